/** The badge of the app: how much awaits the person, on the desktop, in the start menu and in the taskbar. */
import { hear, MOVED_TOPIC } from '@svc/web/server';
import { askCounts, onCounts, totalOf } from './counts.ts';
import { Pace } from './pace.ts';

/** Others may do much; what they do costs no more than this. */
const LEAST_MS = 60_000;

/** Keeps the badge for as long as the page is there. */
export default function keepBadge(show: (count: number) => void): void {
  onCounts((counts) => show(totalOf(counts)));
  const pace = new Pace(LEAST_MS, () => void askCounts());
  const soon = () => pace.soon();
  hear(MOVED_TOPIC, { heard: soon, missed: soon });
  // What the person does in any window is seen at once.
  addEventListener('record-moved', () => pace.now());
  pace.now();
}
