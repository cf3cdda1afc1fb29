import { describe, expect, test } from 'vitest';
import type { HireState } from '../../src/hire/hire.ts';
import { type KnownHire, planOpening } from '../../src/plan/plan-enrolment.ts';

const quiet = { adopt: false, watch: false };
const open = { period: 2, state: 'open', step: 'write-back', employeeId: null } as const;
const answered = { holdId: 'h1', code: 'ONBOARDING_DEADLINE', isClosed: false };
const hold = { holdId: 'h1', code: 'ONBOARDING_DEADLINE' };
const cancel = [{ answer: 'cancel' }];

test.each<[string, Partial<KnownHire>, Partial<typeof quiet> & { behind?: number }, unknown]>([
  ['nobody known: the first period', {}, {}, { kind: 'look', period: 1 }],
  ['who left may come back', { latest: { ...open, state: 'left' } }, {}, { kind: 'look', period: 3 }],
  ['hired before go-live', { latest: { ...open, state: 'before-go-live' } }, {}, { kind: 'closed' }],
  ['cancelled', { latest: { ...open, state: 'cancelled' } }, {}, { kind: 'closed' }],
  ['kept, and a person asks', { latest: { ...open, state: 'kept' } }, { adopt: true }, { kind: 'reopen' }],
  ['open', { latest: open }, {}, { kind: 'resume', step: 'enrol' }],
  ['with an employee', { latest: { ...open, employeeId: '7' } }, {}, { kind: 'resume', step: 'write-back' }],
  [
    'about to see whether another hire took its employee over',
    { latest: { ...open, step: 'employ', employeeId: '7' } },
    {},
    { kind: 'resume', step: 'employ' },
  ],
  ['answered, not heard', { latest: open, lastAnswered: answered }, {}, { kind: 'resume', step: 'enrol', hold }],
  ['cancel was heard', { latest: open, answers: cancel }, {}, { kind: 'resume', step: 'cancel' }],
  [
    'cancel after the employee is there',
    { latest: { ...open, employeeId: '7' }, answers: cancel },
    {},
    { kind: 'resume', step: 'write-back' },
  ],
  ['done', { latest: { ...open, state: 'done' } }, {}, { kind: 'closed' }],
  [
    'done, to be watched',
    { latest: { ...open, state: 'done' } },
    { watch: true },
    { kind: 'resume', step: 'watch-done' },
  ],
  [
    'done, and its workflow followed a later period',
    { latest: { ...open, state: 'done' } },
    { watch: true, behind: 3 },
    { kind: 'look', period: 3 },
  ],
  [
    'done, and its workflow followed this period',
    { latest: { ...open, state: 'done' } },
    { watch: true, behind: 2 },
    { kind: 'resume', step: 'watch-done' },
  ],
])('%s', (_what, known, asked, expected) => {
  const nothing: KnownHire = { latest: undefined, lastAnswered: undefined, answers: [] };
  expect(planOpening({ ...nothing, ...known }, { ...quiet, ...asked })).toEqual(expected);
});

describe('every state a hire can be recorded in', () => {
  const again = (step: string) => ({ kind: 'resume', step });

  test.each<[HireState, unknown, unknown, unknown]>([
    ['before-go-live', { kind: 'closed' }, { kind: 'reopen' }, { kind: 'closed' }],
    ['open', again('enrol'), again('enrol'), again('enrol')],
    ['done', { kind: 'closed' }, { kind: 'closed' }, again('watch-done')],
    ['left', { kind: 'look', period: 3 }, { kind: 'look', period: 3 }, { kind: 'look', period: 3 }],
    ['cancelled', { kind: 'closed' }, { kind: 'reopen' }, { kind: 'closed' }],
    ['kept', { kind: 'closed' }, { kind: 'reopen' }, { kind: 'closed' }],
  ])('%s: by itself, with --adopt, to be watched', (state, byItself, adopted, watched) => {
    const known: KnownHire = { latest: { ...open, state }, lastAnswered: undefined, answers: [] };
    expect(planOpening(known, quiet)).toEqual(byItself);
    expect(planOpening(known, { adopt: true, watch: false })).toEqual(adopted);
    expect(planOpening(known, { adopt: false, watch: true })).toEqual(watched);
  });
});

describe('an answer that a lost workflow did not come to act upon', () => {
  const employed = { ...open, employeeId: '7' };
  const done = { ...employed, state: 'done' } as const;

  test.each<[string, Partial<KnownHire>, unknown]>([
    ['is acted upon before the write-back', { latest: employed }, { kind: 'resume', step: 'write-back', hold }],
    [
      'about a leaver is acted upon although nobody watches',
      { latest: done },
      { kind: 'resume', step: 'watch-done', hold },
    ],
    ['goes before the cancel it may be', { latest: open, answers: cancel }, { kind: 'resume', step: 'enrol', hold }],
    ['does not hire a person who left', { latest: { ...open, state: 'left' } }, { kind: 'look', period: 3 }],
    ['does not open what was cancelled', { latest: { ...open, state: 'cancelled' } }, { kind: 'closed' }],
  ])('%s', (_what, known, expected) => {
    expect(planOpening({ latest: undefined, answers: [], ...known, lastAnswered: answered }, quiet)).toEqual(expected);
  });

  test.each<[string, KnownHire['latest'], unknown]>([
    ['an open hire', open, { kind: 'resume', step: 'enrol' }],
    ['a hire with an employee', employed, { kind: 'resume', step: 'write-back' }],
    ['a finished hire', done, { kind: 'closed' }],
  ])('%s does not hear twice what was acted upon', (_what, latest, expected) => {
    const known = { latest, lastAnswered: { ...answered, isClosed: true }, answers: [] };
    expect(planOpening(known, quiet)).toEqual(expected);
  });
});

describe('a cancel that a lost workflow had begun', () => {
  test.each<[string, string[], string]>([
    ['goes on', ['cancel'], 'cancel'],
    ['goes on after it was tried again', ['cancel', 'retry'], 'cancel'],
    ['goes on after earlier words', ['re-enrol', 'create-anyway', 'cancel'], 'cancel'],
    ['was taken back by a later word', ['cancel', 're-enrol'], 'enrol'],
    ['was never said: a retry is none', ['retry'], 'enrol'],
  ])('%s', (_what, words, step) => {
    const answers = words.map((answer) => ({ answer }));
    const lastAnswered = { ...answered, isClosed: true };
    expect(planOpening({ latest: open, lastAnswered, answers }, quiet)).toEqual({ kind: 'resume', step });
  });
});
