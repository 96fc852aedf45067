// A link that holds the page's state in its fragment, which browsers do not send to any server.

const bytesToText = (bytes) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");

export function write(state) {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  return `#s=${btoa(bytesToText(bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

// The state of a link; null where the fragment holds none.
export function read(fragment) {
  if (!fragment.startsWith("#s=")) return null;
  const text = atob(fragment.slice(3).replaceAll("-", "+").replaceAll("_", "/"));
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (letter) => letter.charCodeAt(0))));
}
