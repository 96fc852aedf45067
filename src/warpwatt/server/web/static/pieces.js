// An answer in pieces, application/json-seq: yields each as soon as it is there.
const MARK = "\u001e";

export async function* pieces(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { done, value } = await reader.read();
    const texts = (held + (value || "")).split(MARK);
    held = done ? "" : texts.pop();
    for (const text of texts) if (text.trim()) yield JSON.parse(text);
    if (done) return;
  }
}
