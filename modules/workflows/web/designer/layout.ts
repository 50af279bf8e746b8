/** Where states and ways stand in the drawing; pure. The library `dagre` lays them out in layers. */
import { Graph, layout } from '@dagrejs/dagre';
import type { Definition } from './definition.ts';

export interface Box {
  readonly name: string;
  readonly x: number;
  readonly y: number;
}

export interface Way {
  /** The transition. */
  readonly name: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
  /** Where its name stands. */
  readonly x: number;
  readonly y: number;
}

export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly Box[];
  readonly ways: readonly Way[];
}

export const BOX = { width: 148, height: 44 } as const;
const MARGIN = 24;
/** So many characters of what a way is called have room beside it. */
const LABEL = 24;

/** A text that has room; its beginning where it hasn't. */
export function short(text: string, most = LABEL): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** Lays a definition out from above to below, or from left to right where there is room. */
export function place(definition: Definition, isWide: boolean): Drawing {
  const graph = new Graph({ multigraph: true });
  const space = { nodesep: 40, ranksep: 64, edgesep: 24 };
  graph.setGraph({ rankdir: isWide ? 'LR' : 'TB', marginx: MARGIN, marginy: MARGIN, ...space });
  for (const { name } of definition.states) graph.setNode(name, { ...BOX });
  for (const { name, title, from, to } of definition.transitions) {
    for (const state of from) {
      if (!graph.hasNode(state) || !graph.hasNode(to)) continue;
      graph.setEdge(state, to, { width: short(title ?? name).length * 7, height: 16, labelpos: 'c' }, name);
    }
  }
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    width,
    height,
    boxes: graph.nodes().map((name) => {
      const { x, y } = graph.node(name) as { x: number; y: number };
      return { name, x, y };
    }),
    ways: graph.edges().map((edge) => {
      const { points, x, y } = graph.edge(edge) as { points: { x: number; y: number }[]; x: number; y: number };
      return { name: edge.name ?? '', points, x, y };
    }),
  };
}
