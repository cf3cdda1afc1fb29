import { expect, test } from 'vitest';
import { type Decisions, undecided } from '../../src/hire/decisions.ts';
import type { FindKey } from '../../src/hire/employee.ts';
import type { Finding } from '../../src/plan/identity-ladder.ts';
import { judgeCreate, mayCreateUnseen } from '../../src/plan/judge-create.ts';

const open = { attempt: 2, outcome: 'open' } as const;
const refused = { attempt: 2, outcome: 'refused' } as const;

function none(by: FindKey['by'], trusted = true): Finding {
  return { by, found: { kind: 'none', trusted } };
}

function one(by: FindKey['by'], id: string): Finding {
  return { by, found: { kind: 'one', ref: { id }, by } };
}

const denied: Partial<Decisions> = { neverHappened: new Set([2]) };
const unproven = [none('reference', false), none('email', false)];

test.each<[string, Finding[], typeof open | typeof refused | undefined, Partial<Decisions>, unknown]>([
  ['our reference is there', [one('reference', '7')], open, {}, { kind: 'found', employee: { id: '7' } }],
  ['the reference is proven absent', [none('reference')], open, {}, { kind: 'absent' }],
  ['an open attempt needs e-mail and name to be absent', [none('email'), none('person')], open, {}, { kind: 'absent' }],
  ['the e-mail alone proves nothing of an open attempt', [none('email')], open, {}, { kind: 'unprovable', hits: [] }],
  ['the e-mail is enough for a first attempt', [none('email')], undefined, {}, { kind: 'absent' }],
  ['the e-mail is enough after a refusal', [none('email')], refused, {}, { kind: 'absent' }],
  ['nothing can be proven', unproven, open, {}, { kind: 'unprovable', hits: [] }],
  ['nothing can be proven, and this attempt was denied', unproven, open, denied, { kind: 'absent' }],
  ['another attempt was denied', unproven, open, { neverHappened: new Set([1]) }, { kind: 'unprovable', hits: [] }],
  ['denied, but somebody is found', [one('email', '7')], open, denied, { kind: 'unprovable', hits: ['7'] }],
  [
    'denied, and who is found is somebody else',
    [one('email', '7'), none('person')],
    open,
    { ...denied, notThese: new Set(['7']) },
    { kind: 'absent' },
  ],
  [
    'e-mail and name show the one that was sent',
    [one('email', '7'), one('person', '7')],
    open,
    {},
    { kind: 'found', employee: { id: '7' } },
  ],
])('%s', (_what, findings, latest, decisions, expected) => {
  expect(judgeCreate(findings, latest, { ...undecided, ...decisions })).toEqual(expected);
});

test.each([
  ['a first attempt that a person vouched for', undefined, true, true],
  ['a first attempt nobody vouched for', undefined, false, false],
  ['a later attempt', open, true, false],
])('%s needs a look or not', (_what, latest, createUnproven, expected) => {
  expect(mayCreateUnseen(latest, { ...undecided, createUnproven })).toBe(expected);
});
