/** The icons: one set, one stroke. */
import {
  AlertTriangle,
  ArrowDown,
  ArrowUp,
  Ban,
  Bookmark,
  Check,
  ChevronDown,
  ChevronFirst,
  ChevronLast,
  ChevronLeft,
  ChevronRight,
  CircleAlert,
  Columns3,
  Copy,
  Download,
  Ellipsis,
  ExternalLink,
  Eye,
  History,
  Inbox,
  KeyRound,
  ListFilter,
  Lock,
  Minus,
  Pencil,
  Play,
  Plus,
  Printer,
  RefreshCw,
  RotateCcw,
  Search,
  Send,
  Trash2,
  Undo2,
  Users,
  WifiOff,
  X,
} from 'lucide';
import { svg, type SVGTemplateResult, type TemplateResult, html } from 'lit';

const ICONS = {
  alert: AlertTriangle,
  down: ArrowDown,
  up: ArrowUp,
  ban: Ban,
  check: Check,
  expand: ChevronDown,
  back: ChevronLeft,
  forward: ChevronRight,
  first: ChevronFirst,
  last: ChevronLast,
  views: Bookmark,
  users: Users,
  error: CircleAlert,
  columns: Columns3,
  copy: Copy,
  more: Ellipsis,
  open: ExternalLink,
  show: Eye,
  history: History,
  empty: Inbox,
  key: KeyRound,
  filter: ListFilter,
  lock: Lock,
  minus: Minus,
  edit: Pencil,
  play: Play,
  plus: Plus,
  print: Printer,
  refresh: RefreshCw,
  retry: RotateCcw,
  search: Search,
  save: Download,
  send: Send,
  trash: Trash2,
  undo: Undo2,
  offline: WifiOff,
  close: X,
} as const;

export type IconName = keyof typeof ICONS;

/** All of them, for a page that shows them. */
export const ICON_NAMES = Object.keys(ICONS) as IconName[];

type Shape = readonly [string, Record<string, string | number | undefined>];

function shape([tag, a]: Shape): SVGTemplateResult {
  switch (tag) {
    case 'path':
      return svg`<path d=${a.d}></path>`;
    case 'circle':
      return svg`<circle cx=${a.cx} cy=${a.cy} r=${a.r}></circle>`;
    case 'rect':
      return svg`<rect x=${a.x} y=${a.y} width=${a.width} height=${a.height} rx=${a.rx ?? 0}></rect>`;
    case 'polyline':
      return svg`<polyline points=${a.points}></polyline>`;
    default:
      return svg`<line x1=${a.x1} y1=${a.y1} x2=${a.x2} y2=${a.y2}></line>`;
  }
}

/** An icon of 16 px, unseen by screen readers: words stand beside it or in the label of its button. */
export function icon(name: IconName): TemplateResult {
  const shapes = ICONS[name] as unknown as readonly Shape[];
  return html`<svg class="svc-icon" viewBox="0 0 24 24" aria-hidden="true">${shapes.map(shape)}</svg>`;
}
