/** What can be done to a workflow that is drawn. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assignedText, readAssigned } from '../../modules/workflows/web/designer/assigned.ts';
import { lineOf, rolesOf, withLine, withoutRole, withRole } from '../../modules/workflows/web/designer/by.ts';
import type { By, Definition, Transition } from '../../modules/workflows/web/designer/definition.ts';
import {
  aboutOf,
  addGroup,
  addState,
  addTransition,
  changeGroup,
  changeState,
  changeTransition,
  has,
  remove,
  removeGroup,
} from '../../modules/workflows/web/designer/edits.ts';
import { termOf, unitOf } from '../../modules/workflows/web/designer/terms.ts';

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
  assert.deepEqual(about("the transition `ask` names `lost`, which isn't a state"), {
    kind: 'transition',
    name: 'ask',
  });
  assert.equal(about('no state is the one that records begin in'), undefined);
});

test('the first group takes over who could take it, and the last one gives it back', () => {
  const way: Transition = { name: 'finish', from: ['open'], to: 'done', by: ['creator'], approvals: 2 };
  const one = { ...way, ...addGroup(way) };
  assert.deepEqual(one.groups, [{ name: 'group1', by: ['creator'], approvals: 2 }]);
  assert.deepEqual([one.by, one.approvals], [[], 1]);
  const two = { ...one, ...addGroup(one), inSequence: true };
  assert.deepEqual(two.groups?.[1], { name: 'group2', by: [] });
  const named = { ...two, ...changeGroup(two, 1, { name: 'board', by: [{ permission: 'Orders.Close' }] }) };
  const left = { ...named, ...removeGroup(named, 0) };
  assert.deepEqual(left.groups, [{ name: 'board', by: [{ permission: 'Orders.Close' }] }]);
  assert.equal(left.inSequence, undefined, 'one group alone comes after none');
  const none = { ...left, ...removeGroup(left, 0) };
  assert.deepEqual([none.groups, none.by, none.approvals], [undefined, [{ permission: 'Orders.Close' }], 1]);
});

test('what is taken by itself goes along with its name', () => {
  const [open, waiting, done] = ORDERS.states;
  assert.ok(open && waiting && done);
  const automatic = { after: { days: 3 }, transition: 'finish' };
  const timed: Definition = { ...ORDERS, states: [open, { ...waiting, automatic }, done] };
  const { states } = changeTransition(timed, 'finish', { name: 'close' });
  assert.deepEqual(states[1]?.automatic, { after: { days: 3 }, transition: 'close' });
});

test('terms and values are what a form has of them', () => {
  for (const term of [{ hours: 4 }, { days: 1 }, { workingDays: 10 }]) {
    const { unit, amount } = unitOf(term);
    assert.deepEqual(termOf(unit, amount), term);
  }
  const values = [
    ['number', '12.5', 12.5],
    ['number', 'twelve', 'twelve'],
    ['boolean', 'true', true],
    ['text', '12', '12'],
    ['text', '', null],
  ] as const;
  for (const [kind, typed, value] of values) {
    assert.equal(readAssigned(kind, typed), value);
    if (value !== 'twelve') assert.equal(assignedText(value), typed);
  }
});

test('who may is a line and roles beside it, which keep what each other says', () => {
  const by: By[] = ['creator', { role: 'Buyers, 100 %' }, { permission: 'Orders.Approve' }, { person: 'buyerId' }];
  assert.equal(lineOf(by), '@creator, Orders.Approve, @buyerId');
  assert.deepEqual(rolesOf(by), ['Buyers, 100 %']);
  assert.deepEqual(withLine(by, 'Orders.Ship  @buyerId'), [
    { permission: 'Orders.Ship' },
    { person: 'buyerId' },
    { role: 'Buyers, 100 %' },
  ]);
  assert.deepEqual(withRole([{ role: 'Buyers' }], 'Store'), [{ role: 'Buyers' }, { role: 'Store' }]);
  assert.deepEqual(withRole([{ role: 'Buyers' }], 'BUYERS'), [{ role: 'Buyers' }]);
  assert.deepEqual(withoutRole(['creator', { role: 'Buyers' }], 'Buyers'), ['creator']);
});
