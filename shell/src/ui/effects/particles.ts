/** The six effects. Each frame stays well under 4 ms: few particles, no shadows, no state changes per particle. */
import { crowd, many, scatter, type Effect } from './effect.ts';

/** Soft flakes in three depths. */
export const snow: Effect = (scene) => {
  const flakes = scatter(scene, 130, 260);
  return (context, seconds) => {
    context.fillStyle = scene.ink();
    for (const flake of flakes) {
      const depth = 0.4 + flake.size * 0.6;
      flake.phase += seconds;
      flake.y += seconds * 46 * depth;
      flake.x += Math.sin(flake.phase) * 12 * seconds;
      if (flake.y > scene.height + 6) {
        flake.y = -6;
        flake.x = scene.random() * scene.width;
      }
      context.globalAlpha = 0.25 + depth * 0.5;
      context.beginPath();
      context.arc(flake.x, flake.y, depth * 2.6, 0, 7);
      context.fill();
    }
  };
};

/** Stars that twinkle and drift. */
export const starfield: Effect = (scene) => {
  const stars = scatter(scene, 170, 360);
  return (context, seconds) => {
    context.fillStyle = scene.ink();
    for (const star of stars) {
      const size = 0.6 + star.size * 1.5;
      star.phase += seconds * star.pace;
      star.x -= seconds * size * 2.4;
      if (star.x < -3) star.x = scene.width + 3;
      context.globalAlpha = 0.35 + 0.45 * (0.5 + 0.5 * Math.sin(star.phase));
      context.fillRect(star.x, star.y, size, size);
    }
  };
};

/** A flight through stars. */
export const warp: Effect = (scene) => {
  const fresh = () => ({ x: (scene.random() - 0.5) * 2, y: (scene.random() - 0.5) * 2, z: 0.1 + scene.random() * 0.9 });
  const stars = many(crowd(scene, 150, 300), fresh);
  return (context, seconds) => {
    const [middleX, middleY] = [scene.width / 2, scene.height / 2];
    const reach = Math.max(middleX, middleY);
    context.strokeStyle = scene.ink();
    context.lineCap = 'round';
    for (const [index, star] of stars.entries()) {
      const before = star.z;
      star.z -= seconds * 0.22;
      if (star.z <= 0.04) {
        stars[index] = { ...fresh(), z: 1 };
        continue;
      }
      const [x, y] = [middleX + (star.x / star.z) * reach * 0.5, middleY + (star.y / star.z) * reach * 0.5];
      if (x < 0 || y < 0 || x > scene.width || y > scene.height) {
        stars[index] = { ...fresh(), z: 1 };
        continue;
      }
      const tail = before + 0.025;
      context.globalAlpha = Math.min(0.8, (1 - star.z) * 0.9);
      context.lineWidth = (1 - star.z) * 2.2;
      context.beginPath();
      context.moveTo(middleX + (star.x / tail) * reach * 0.5, middleY + (star.y / tail) * reach * 0.5);
      context.lineTo(x, y);
      context.stroke();
    }
  };
};

/** Moves something on, and turns it at the edges. */
function bounce(one: { x: number; y: number; dx: number; dy: number }, seconds: number, right: number, bottom: number) {
  one.x += one.dx * seconds;
  one.y += one.dy * seconds;
  if (one.x < 0 || one.x > right) one.dx = Math.abs(one.dx) * (one.x < 0 ? 1 : -1);
  if (one.y < 0 || one.y > bottom) one.dy = Math.abs(one.dy) * (one.y < 0 ? 1 : -1);
}

const LINK = 130;

/** Points that link up when they come near each other. */
export const network: Effect = (scene) => {
  const points = scatter(scene, 48, 84).map((point) => ({
    ...point,
    dx: (scene.random() - 0.5) * 26,
    dy: (scene.random() - 0.5) * 26,
  }));
  return (context, seconds) => {
    context.strokeStyle = scene.ink();
    context.fillStyle = scene.ink();
    context.lineWidth = 1;
    for (const [index, point] of points.entries()) {
      bounce(point, seconds, scene.width, scene.height);
      for (const other of points.slice(index + 1)) {
        const [dx, dy] = [other.x - point.x, other.y - point.y];
        if (Math.abs(dx) > LINK || Math.abs(dy) > LINK) continue;
        const distance = Math.hypot(dx, dy);
        if (distance > LINK) continue;
        context.globalAlpha = (1 - distance / LINK) * 0.4;
        context.beginPath();
        context.moveTo(point.x, point.y);
        context.lineTo(other.x, other.y);
        context.stroke();
      }
      context.globalAlpha = 0.65;
      context.fillRect(point.x - 1.5, point.y - 1.5, 3, 3);
    }
  };
};

/** Curtains of light. Drawn as vertical strips whose foot and height wave. */
export const aurora: Effect = (scene) => {
  const bands = [
    { colour: '90, 255, 190', base: 0.34, pace: 0.13, height: 0.34 },
    { colour: '90, 170, 255', base: 0.27, pace: 0.1, height: 0.3 },
    { colour: '200, 120, 255', base: 0.21, pace: 0.07, height: 0.25 },
  ];
  let time = scene.random() * 100;
  // Whole pixels without overlap, or the seams between the strips would show.
  const step = Math.max(4, Math.round(scene.width / 90));
  let strips: CanvasGradient[] | undefined;
  return (context, seconds) => {
    time += seconds;
    strips ??= bands.map((band) => {
      const gradient = context.createLinearGradient(0, 0, 0, scene.height * band.height);
      gradient.addColorStop(0, `rgba(${band.colour}, 0)`);
      gradient.addColorStop(0.7, `rgba(${band.colour}, 0.3)`);
      gradient.addColorStop(1, `rgba(${band.colour}, 0)`);
      return gradient;
    });
    for (const [index, band] of bands.entries()) {
      context.fillStyle = strips[index] ?? scene.ink();
      for (let x = 0; x < scene.width; x += step) {
        const u = x / scene.width;
        const wave = Math.sin(u * 6 + time * band.pace * 6 + index) + 0.5 * Math.sin(u * 13 - time * band.pace * 9);
        context.globalAlpha = 0.5 + 0.35 * Math.sin(u * 9 + time * (0.4 + index * 0.2));
        context.setTransform(1, 0, 0, 1, x, scene.height * (band.base - band.height / 2) + wave * scene.height * 0.05);
        context.fillRect(0, 0, step, scene.height * band.height);
      }
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
  };
};

/** The brand's logo above its title, several times, bouncing off the edges. */
export const logos: Effect = (scene) => {
  const size = Math.min(96, scene.width / 6);
  const line = scene.title ? size * 0.24 : 0;
  const tall = size + line * 1.5;
  const movers = many(4, (index) => ({
    x: scene.random() * Math.max(1, scene.width - size),
    y: scene.random() * Math.max(1, scene.height - tall),
    dx: (index % 2 ? -1 : 1) * (50 + scene.random() * 40),
    dy: (index % 3 ? 1 : -1) * (40 + scene.random() * 40),
  }));
  return (context, seconds) => {
    for (const mover of movers) {
      bounce(mover, seconds, scene.width - size, scene.height - tall);
      context.globalAlpha = 0.8;
      let height = size;
      if (scene.logo?.complete && scene.logo.naturalWidth > 0) {
        height = (size * scene.logo.naturalHeight) / scene.logo.naturalWidth;
        context.drawImage(scene.logo, mover.x, mover.y, size, height);
      } else drawMark(context, mover.x, mover.y, size, scene.accent);
      if (!scene.title) continue;
      context.font = `600 ${line}px ${scene.font}`;
      context.textAlign = 'center';
      context.textBaseline = 'top';
      context.fillStyle = scene.ink();
      context.fillText(scene.title, mover.x + size / 2, mover.y + height + line * 0.4, size * 2);
    }
  };
};

/** Stands for the logo of a product without one: four tiles. */
function drawMark(context: CanvasRenderingContext2D, x: number, y: number, size: number, accent: string): void {
  const part = size * 0.44;
  const gap = size * 0.12;
  context.fillStyle = accent;
  for (const [column, row] of [
    [0, 0],
    [1, 0],
    [0, 1],
    [1, 1],
  ] as const) {
    context.beginPath();
    context.roundRect(x + column * (part + gap), y + row * (part + gap), part, part, part * 0.28);
    context.fill();
  }
}
