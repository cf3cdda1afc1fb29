import { expect, test } from 'vitest';
import { judgeLink, type LinkFacts, maskName } from '../../src/plan/identity-ladder.ts';

const facts: LinkFacts = {
  candidate: { id: '88', name: 'Zoë Müller-Lüdenscheidt' },
  employee: { id: '7', name: 'ZOE  Muller Ludenscheidt' },
  linkedCandidate: undefined,
  isMerged: false,
  linkedEmployees: [],
  isBeingHired: false,
  erased: undefined,
};

test.each<[string, Partial<LinkFacts>, unknown]>([
  ['names that differ in case, accents and dashes fit', {}, { kind: 'fits' }],
  ['names in another order fit', { employee: { id: '7', name: 'Muller-Ludenscheidt, Zoe' } }, { kind: 'fits' }],
  ['no candidate', { candidate: undefined }, { kind: 'refused', at: 'candidate' }],
  ['no employee', { employee: undefined }, { kind: 'refused', at: 'employee' }],
  ['the same link', { linkedCandidate: '88', linkedEmployees: ['7'] }, { kind: 'known' }],
  ['the employee of another', { linkedCandidate: '89' }, { kind: 'refused', at: 'employee' }],
  ['the employee of one who is gone', { linkedCandidate: '89', isMerged: true }, { kind: 'fits' }],
  [
    'the employee of one who is gone, of another name',
    { linkedCandidate: '89', isMerged: true, employee: { id: '7', name: 'Zoë Meier' } },
    { kind: 'refused', at: 'employee' },
  ],
  ['a candidate who is another employee', { linkedEmployees: ['6'] }, { kind: 'refused', at: 'candidate' }],
  ['a hire under way', { isBeingHired: true }, { kind: 'refused', at: 'candidate' }],
  ['an erased candidate', { erased: 'candidate' }, { kind: 'refused', at: 'candidate' }],
  ['an erased employee, shown or not', { erased: 'employee' }, { kind: 'refused', at: 'employee' }],
  ['another name', { employee: { id: '7', name: 'Zoë Meier' } }, { kind: 'refused', at: 'employee' }],
  ['no name at all', { candidate: { id: '88', name: '' }, employee: { id: '7', name: '' } }, { kind: 'refused' }],
])('%s', (_, change, verdict) => {
  expect(judgeLink({ ...facts, ...change })).toMatchObject(verdict as object);
});

test('a refusal shows no name', () => {
  const verdict = judgeLink({ ...facts, employee: { id: '7', name: 'Ada Lovelace' } });
  expect(JSON.stringify(verdict)).not.toMatch(/Lovelace|Ada|Müller/);
  expect(maskName({ name: 'Ada Lovelace' })).toBe('A*** L***');
});
