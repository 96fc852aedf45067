// CUDA C++ and PTX in colours: a copy of the text behind the text area, which keeps selection and caret.

const LONGEST = 60_000;
const TOKENS = new RegExp([
  "(?<comment>//[^\\n]*|/\\*[^]*?\\*/)",
  "(?<text>\"(?:[^\"\\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\\n]|\\\\.)*')",
  "(?<macro>^[ \\t]*#[^\\n]*)",
  "(?<cuda>__\\w+__|\\b(?:threadIdx|blockIdx|blockDim|gridDim|warpSize|__syncthreads|__syncwarp|__shfl\\w*|atomic\\w+)\\b)",
  "(?<word>\\b(?:if|else|for|while|do|return|break|continue|switch|case|default|template|typename|struct|class|using|namespace|const|constexpr|static|extern|inline|auto|void|bool|char|short|int|long|unsigned|signed|float|double|half|size_t|u?int(?:8|16|32|64)_t|true|false|nullptr|sizeof)\\b)",
  "(?<number>\\b(?:0x[\\da-fA-F]+|\\d[\\d.]*(?:e[+-]?\\d+)?)[fFuUlL]*\\b)",
].join("|"), "gm");

// Fill `host` with the text in spans; false, and nothing, where it is too long to colour at every stroke.
export function colour(host, text) {
  host.replaceChildren();
  if (text.length > LONGEST) return false;
  let from = 0;
  for (const found of text.matchAll(TOKENS)) {
    const kind = Object.keys(found.groups).find((name) => found.groups[name] !== undefined);
    const made = document.createElement("span");
    made.className = kind;
    made.textContent = found[0];
    host.append(text.slice(from, found.index), made);
    from = found.index + found[0].length;
  }
  host.append(`${text.slice(from)}\n`);
  return true;
}
