/** Pictures that people bring along, made small enough for their profile. */
import { h, type Child } from './dom.ts';

/** A picture as a data URL, at most `side` pixels long, and smaller until it takes no more than `most` characters. */
export async function readPicture(file: File, side: number, type: string, most: number): Promise<string> {
  const bitmap = await createImageBitmap(file);
  const long = Math.max(bitmap.width, bitmap.height);
  let scale = Math.min(1, side / long);
  let url = '';
  do {
    const [width, height] = [bitmap.width, bitmap.height].map((pixels) => Math.max(1, Math.round(pixels * scale)));
    const canvas = h('canvas', { width, height });
    canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    url = canvas.toDataURL(type, 0.6);
    scale *= 0.8;
  } while (url.length > most);
  bitmap.close();
  return url;
}

/** The browser's own control for a file speaks the browser's language; this one speaks the desktop's. */
export function fileButton(input: HTMLInputElement, title: Child, beside?: HTMLElement): HTMLElement {
  return h('label.shell-file', {}, input, h('span.shell-button', {}, title), beside);
}
