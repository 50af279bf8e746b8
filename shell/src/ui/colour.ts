/** Any colour that CSS knows, as numbers: the browser reads it. */
import { fromHex, type Rgb } from '../core/colour.ts';

let board: CanvasRenderingContext2D | null | undefined;

/** Reads a colour, its transparency left out; `undefined` when it isn't one. */
export function parseColour(text: string): Rgb | undefined {
  const plain = fromHex(text);
  if (plain) return plain;
  board ??= document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  if (!board) return undefined;
  // What isn't a colour leaves the style as it was.
  board.fillStyle = '#000';
  board.fillStyle = text;
  const style = board.fillStyle;
  board.fillStyle = '#fff';
  board.fillStyle = text;
  if (board.fillStyle !== style) return undefined;
  const known = fromHex(style);
  if (known) return known;
  board.clearRect(0, 0, 1, 1);
  board.fillRect(0, 0, 1, 1);
  const [r = 0, g = 0, b = 0] = board.getImageData(0, 0, 1, 1).data;
  return { r, g, b };
}
