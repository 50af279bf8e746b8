/** Counts its own loads per frame. */
globalThis.name = String(Number(globalThis.name || 0) + 1);
document.querySelector('#loads').textContent = globalThis.name;
