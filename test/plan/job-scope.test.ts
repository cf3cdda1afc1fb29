import { expect, test } from 'vitest';
import { areDisjoint, type JobScope, takesJob } from '../../src/plan/job-scope.ts';

const countries = (...values: string[]): JobScope => ({ countries: values });
const field = (name: string, ...values: string[]): JobScope => ({ customField: { name, values } });

test.each<[string, JobScope | undefined, string[], boolean]>([
  ['without a scope every job is taken', undefined, [], true],
  ['a value of the list', countries('Germany', 'Austria'), ['Austria'], true],
  ['case and blanks do not matter', countries(' GERMANY'), ['Germany '], true],
  ['another value', countries('Germany'), ['France'], false],
  ['none shown is nobody’s', countries('Germany'), [], false],
  ['an empty one is nobody’s', countries('Germany'), [''], false],
  ['several, all of the list', field('Entity', 'A', 'B'), ['A', 'B'], true],
  ['several, one of another scope', field('Entity', 'A'), ['A', 'B'], false],
])('%s', (_, scope, shown, taken) => {
  expect(takesJob(scope, shown)).toBe(taken);
});

test.each<[string, JobScope | undefined, JobScope | undefined, boolean]>([
  ['two without a scope', undefined, undefined, false],
  ['one without', countries('Germany'), undefined, false],
  ['no value in common', countries('Germany'), countries('France'), true],
  ['one in common, written otherwise', countries('Germany', 'France'), countries('FRANCE '), false],
  ['different criteria', countries('Germany'), { jobs: ['1'] }, false],
  ['one field by its label in another case', field('Entity', 'A'), field('entity', 'B'), true],
  ['different fields', field('Entity', 'A'), field('Branch', 'B'), false],
])('%s: whether they are disjoint', (_, one, other, disjoint) => {
  expect(areDisjoint(one, other)).toBe(disjoint);
  expect(areDisjoint(other, one)).toBe(disjoint);
});
