/** What can be done to a workflow that is drawn. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Definition } from '../../modules/workflows/web/designer/definition.ts';
import {
  aboutOf,
  addState,
  addTransition,
  changeState,
  changeTransition,
  has,
  remove,
} from '../../modules/workflows/web/designer/edits.ts';

const ORDERS: Definition = {
  states: [
    { name: 'open', kind: 'initial' },
    { name: 'asked', kind: 'intermediate' },
    { name: 'done', kind: 'final' },
  ],
  transitions: [
    { name: 'ask', from: ['open'], to: 'asked', by: ['creator'] },
    { name: 'finish', from: ['open', 'asked'], to: 'done', by: [{ permission: 'Orders.Close' }] },
  ],
};

test('a state that is renamed takes its transitions along', () => {
  const { transitions, states } = changeState(ORDERS, 'asked', { name: 'waiting' });
  assert.deepEqual(
    states.map(({ name }) => name),
    ['open', 'waiting', 'done'],
  );
  assert.deepEqual(
    transitions.map(({ to }) => to),
    ['waiting', 'done'],
  );
  assert.deepEqual(transitions[1]?.from, ['open', 'waiting']);
});

test('there is one state that records begin in', () => {
  const { states } = changeState(ORDERS, 'asked', { kind: 'initial' });
  assert.deepEqual(
    states.map(({ kind }) => kind),
    ['intermediate', 'initial', 'final'],
  );
  assert.equal(addState({ states: [], transitions: [] }).definition.states[0]?.kind, 'initial');
});

test('what is new has a name of its own', () => {
  const once = addState(ORDERS);
  const twice = addState(once.definition);
  assert.deepEqual([once.chosen.name, twice.chosen.name], ['state1', 'state2']);
  const way = addTransition(ORDERS, 'asked', 'open');
  assert.deepEqual(way.definition.transitions[2], { name: 'step1', from: ['asked'], to: 'open', by: ['creator'] });
  assert.ok(has(way.definition, way.chosen));
});

test('with a state go the ways that lead to it, and those that lead from it alone', () => {
  const { transitions } = remove(ORDERS, { kind: 'state', name: 'asked' });
  assert.deepEqual(transitions, [{ ...ORDERS.transitions[1], from: ['open'] }]);
  assert.deepEqual(remove(ORDERS, { kind: 'transition', name: 'ask' }).transitions.length, 1);
  assert.ok(!has(remove(ORDERS, { kind: 'state', name: 'done' }), { kind: 'state', name: 'done' }));
});

test('what is left empty is not written', () => {
  const changed = changeTransition(ORDERS, 'ask', { condition: 'total gt 1' });
  assert.equal(changed.transitions[0]?.condition, 'total gt 1');
  const cleared = changeTransition(changed, 'ask', { condition: undefined } as never);
  assert.deepEqual(cleared, ORDERS);
});

test('a problem leads to what it names', () => {
  const about = (message: string) => aboutOf(ORDERS, { code: 'x', message });
  assert.deepEqual(about('no way leads to the state `asked`'), { kind: 'state', name: 'asked' });
  assert.deepEqual(about('the transition `ask` names `lost`, which is no state'), { kind: 'transition', name: 'ask' });
  assert.equal(about('no state is the one that records begin in'), undefined);
});
