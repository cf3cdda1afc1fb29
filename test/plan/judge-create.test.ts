import { expect, test } from 'vitest';
import { type Decisions, undecided } from '../../src/hire/answers.ts';
import { type Finding, judgeCreate, mayCreateUnseen } from '../../src/plan/identity-ladder.ts';
import { inHr, many, none, one, unproven } from './findings.ts';

const open = { attempt: 2, outcome: 'open' } as const;
const refused = { attempt: 2, outcome: 'refused' } as const;

const found = (id: string) => ({ kind: 'found', employee: inHr(id) });
const mayBe = (...hits: string[]) => ({ kind: 'unprovable', hits });
const denied: Partial<Decisions> = { neverHappened: new Set([2]) };
const blind = [unproven('reference'), unproven('email')];

test.each<[string, Finding[], typeof open | typeof refused | undefined, Partial<Decisions>, unknown]>([
  ['our reference is there', [one('reference', '7')], open, {}, { kind: 'found', employee: inHr('7') }],
  ['the reference is proven absent', [none('reference')], open, {}, { kind: 'absent' }],
  ['an open attempt needs e-mail and name to be absent', [none('email'), none('person')], open, {}, { kind: 'absent' }],
  ['the e-mail alone proves nothing of an open attempt', [none('email')], open, {}, { kind: 'unprovable', hits: [] }],
  ['the e-mail is enough for a first attempt', [none('email')], undefined, {}, { kind: 'absent' }],
  ['the e-mail is enough after a refusal', [none('email')], refused, {}, { kind: 'absent' }],
  ['nothing can be proven', blind, open, {}, { kind: 'unprovable', hits: [] }],
  ['nothing can be proven, and this attempt was denied', blind, open, denied, { kind: 'absent' }],
  ['another attempt was denied', blind, open, { neverHappened: new Set([1]) }, { kind: 'unprovable', hits: [] }],
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
    { kind: 'found', employee: inHr('7') },
  ],
  ['the number alone shows nobody: numbers are given again', [one('number', '7')], open, {}, mayBe('7')],
  ['two of the e-mail may both be the one', [many('email', '7', '8')], open, {}, mayBe('7', '8')],
  [
    'a record found by two keys is named once',
    [one('email', '7'), many('person', '7', '8')],
    open,
    {},
    mayBe('7', '8'),
  ],
  ['two keys, two records: both are named', [one('number', '7'), one('person', '8')], open, {}, mayBe('7', '8')],
  [
    'e-mail and name after a refusal: it made nobody, so that is somebody to ask about',
    [one('email', '7'), one('person', '7')],
    refused,
    {},
    mayBe('7'),
  ],
  ['the reference is there after a refusal all the same', [one('reference', '7')], refused, {}, found('7')],
  ['the reference is there on a first attempt', [one('reference', '7')], undefined, {}, found('7')],
  ['an attempt denied, and the reference shows it happened', [one('reference', '7')], open, denied, found('7')],
  [
    'one of two was denied, and the other agrees with the name',
    [many('email', '7', '8'), one('person', '8')],
    open,
    { notThese: new Set(['7']) },
    found('8'),
  ],
  [
    'one of two was denied, and the other is known by e-mail alone',
    [many('email', '7', '8')],
    open,
    { ...denied, notThese: new Set(['7']) },
    mayBe('8'),
  ],
  ['a denial of an attempt that was refused since', blind, refused, denied, { kind: 'absent' }],
  ['a first attempt that nobody can prove was not made', blind, undefined, denied, { kind: 'unprovable', hits: [] }],
  [
    'a person vouched for the first attempt; the second left and is not settled by that',
    blind,
    open,
    { createUnproven: true },
    { kind: 'unprovable', hits: [] },
  ],
  ['no key could be asked', [], open, {}, { kind: 'unprovable', hits: [] }],
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
