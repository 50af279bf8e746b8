/** What an effect is: particles that live in a box and are drawn once per frame. */

/** Surroundings of an effect. */
export interface Scene {
  width: number;
  height: number;
  /** Pictures for effects that show the brand. */
  logo: HTMLImageElement | undefined;
  /** What the product is called, if it says so. */
  title: string;
  /** The face of the desktop's text, and its colour on the wallpaper of the moment. */
  font: string;
  ink(): string;
  accent: string;
  random(): number;
}

/** Draws one frame; `seconds` since the last one. */
export type Frame = (context: CanvasRenderingContext2D, seconds: number) => void;

/** Sets an effect up. */
export type Effect = (scene: Scene) => Frame;

/** So many particles as the area deserves, within limits. */
export function crowd(scene: Scene, perMegapixel: number, most: number): number {
  return Math.min(most, Math.round(((scene.width * scene.height) / 1_000_000) * perMegapixel));
}

/** Makes `count` things. */
export function many<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_unused, index) => make(index));
}

/** Particles all over the area, each with a size from 0 to 1 and a pace and phase of its own. */
export function scatter(scene: Scene, perMegapixel: number, most: number) {
  return many(crowd(scene, perMegapixel, most), () => ({
    x: scene.random() * scene.width,
    y: scene.random() * scene.height,
    size: scene.random(),
    phase: scene.random() * 7,
    pace: 0.5 + scene.random() * 1.5,
  }));
}
