/**
 * Runs the chosen effect on a canvas behind everything, and only while somebody can see it: not in hidden tabs, not
 * under a maximized window, not while dragging, and never for those who asked for less motion.
 */
import type { EffectName } from '../../types.ts';
import { effect as react, onDispose, signal } from '../../core/signal.ts';
import type { Desk } from '../desk.ts';
import { h, listen } from '../dom.ts';
import type { Effect } from './effect.ts';
import { aurora, logos, network, snow, starfield, warp } from './particles.ts';

const EFFECTS: Record<Exclude<EffectName, 'none'>, Effect> = { logos, snow, starfield, warp, network, aurora };

/** How coarse a canvas is for effects without edges: a quarter each way is a sixteenth of the pixels. */
const SCALE: Partial<Record<EffectName, number>> = { aurora: 0.25 };

/** Makes the canvas. */
export function effectStage(desk: Desk): HTMLCanvasElement {
  const canvas = h('canvas.shell-effect', { 'aria-hidden': 'true' });
  const motion = matchMedia('(prefers-reduced-motion: reduce)');
  const calm = signal(motion.matches);
  const visible = signal(document.visibilityState === 'visible');
  const covered = signal(false);
  const size = signal({ width: 0, height: 0 });
  const observer = new ResizeObserver(([entry]) => {
    if (entry) size.set({ width: Math.round(entry.contentRect.width), height: Math.round(entry.contentRect.height) });
  });
  observer.observe(canvas);
  onDispose(() => observer.disconnect());
  onDispose(listen(motion, 'change', () => calm.set(motion.matches)));
  onDispose(listen(document, 'visibilitychange', () => visible.set(document.visibilityState === 'visible')));
  react(() => {
    if (desk.setting('effect') === 'none') return;
    desk.windows.revision();
    desk.activeWebtop();
    const full = (placement: string) => desk.compact() || placement === 'maximized';
    covered.set(desk.windows.list().some((win) => desk.windows.shown(win) && full(win.placement)));
  });
  react(() => {
    const name = desk.setting('effect') as EffectName;
    const make = name === 'none' ? undefined : EFFECTS[name];
    canvas.hidden = !make || calm();
    if (!make || calm() || !visible() || covered() || size().width === 0) return undefined;
    const scale = SCALE[name] ?? 1;
    return run(desk, canvas, make, {
      width: Math.round(size().width * scale),
      height: Math.round(size().height * scale),
    });
  });
  return canvas;
}

function run(desk: Desk, canvas: HTMLCanvasElement, make: Effect, size: { width: number; height: number }): () => void {
  const context = canvas.getContext('2d');
  if (!context) return () => {};
  canvas.width = size.width;
  canvas.height = size.height;
  const { logo: logoSource, title = '' } = desk.runtime.options().brand ?? {};
  const logo = logoSource ? new Image() : undefined;
  if (logo && logoSource) logo.src = desk.runtime.iconUrl(logoSource);
  const frame = make({
    ...size,
    logo,
    title,
    font: getComputedStyle(desk.root).fontFamily,
    ink: () => desk.root.style.getPropertyValue('--shell-on-wallpaper'),
    accent: desk.setting('systemColor'),
    random: Math.random,
  });
  let last = performance.now();
  let request = 0;
  const draw = (now: number) => {
    request = requestAnimationFrame(draw);
    if (!desk.shield.hidden) return;
    const seconds = Math.min(0.1, (now - last) / 1000);
    last = now;
    context.globalAlpha = 1;
    context.clearRect(0, 0, size.width, size.height);
    frame(context, seconds);
  };
  request = requestAnimationFrame(draw);
  return () => cancelAnimationFrame(request);
}
