import { expect, test } from 'vitest';
import { type Decisions, decide, undecided } from '../../src/hire/answers.ts';
import type { KnownEmployee } from '../../src/hire/hire.ts';
import { type EmployeeObservation, planEmployee, readingFor } from '../../src/plan/plan-employee.ts';
import { inHr, many, none, one, unproven } from './findings.ts';
import { ada as fresh } from './plan-of-hire.ts';

const other = { tenantId: 'acme', jobCandidateId: '4001', period: 1 };

const create = { kind: 'create', fields: fresh.fields, reference: fresh.reference };
const nobody = [none('reference'), none('email')];
const lacking = [{ field: 'startDate', code: 'MISSING', text: 'startDate is empty.' }];
const link = (id: string): unknown => ({ kind: 'link', employee: inHr(id) });
const linkedTo = (employeeId: string, isThisPerson: boolean) => [{ employeeId, isThisPerson, hire: other }];

test('another name is asked about by the id as the HR system writes it', () => {
  const named = { ...fresh, named: inHr('A7'), isOtherName: true };
  const asked = planEmployee(named, { ...undecided, link: 'a7' });
  expect(asked).toMatchObject({ hold: { code: 'LINK_OTHER_NAME', details: { employeeId: 'A7' } } });
});

test.each<[string, Partial<EmployeeObservation>, Partial<Decisions>, unknown]>([
  ['nobody is found: create', { findings: nobody }, {}, create],
  ['our reference is found: link', { findings: [one('reference', '7')] }, {}, link('7')],
  [
    'a transfer after a restore that forgot the employee: our reference is found, and gets the job',
    { findings: [one('reference', '7')] },
    { person: 'transfer' },
    { kind: 'update', employee: inHr('7'), fields: fresh.ofJob },
  ],
  [
    'a transfer, and somebody with the same number and e-mail: link',
    { findings: [one('number', '7'), one('email', '7')] },
    { person: 'transfer' },
    link('7'),
  ],
  [
    'a transfer after a restore that forgot the employee, whom a person named: the named one gets the job',
    { named: inHr('7') },
    { person: 'transfer', link: '7' },
    { kind: 'update', employee: inHr('7'), fields: fresh.ofJob },
  ],
  [
    'a transfer whose own create came through: link',
    { findings: [one('reference', '7')], unsettledCreate: true },
    { person: 'transfer' },
    link('7'),
  ],
  ['number and e-mail agree: link', { findings: [one('number', '7'), one('email', '7')] }, {}, link('7')],
  [
    'this hire has its employee: link',
    { own: { ...inHr('7'), number: 'E7' } },
    {},
    { kind: 'link', employee: { ...inHr('7'), number: 'E7' } },
  ],
  [
    'the found employee is linked to this person',
    { findings: [one('reference', '7')], links: linkedTo('7', true) },
    {},
    link('7'),
  ],
  ['another employee found is linked to somebody else', { findings: nobody, links: linkedTo('7', false) }, {}, create],
  [
    'an unsettled create and nothing found: applyPlan settles it',
    { findings: [unproven('reference')], unsettledCreate: true },
    {},
    create,
  ],
  [
    'an unsettled create and weak evidence: applyPlan settles it',
    { findings: [one('email', '7')], unsettledCreate: true },
    {},
    create,
  ],
  [
    'an unsettled create, e-mail and name agree: link',
    { findings: [one('email', '7'), one('person', '7')], unsettledCreate: true },
    {},
    link('7'),
  ],
  [
    'absence unproven, and a person vouched for it',
    { findings: [unproven('email')] },
    { createUnproven: true },
    create,
  ],
  ['nobody found, and the partner was told of an employee', { findings: nobody, told: '1007' }, {}, 'EMPLOYEE_TOLD'],
  [
    'the partner was told of an employee, and a person says that there is none',
    { findings: nobody, told: '1007' },
    { createUnproven: true },
    create,
  ],
  [
    'the partner was told of an employee, and a create is unsettled: applyPlan settles it',
    { findings: nobody, told: '1007', unsettledCreate: true },
    {},
    create,
  ],
  ['the only hit was denied', { findings: [one('email', '7')] }, { notThese: new Set(['7']) }, create],
  [
    'one of two hits was denied, the other is weak',
    { findings: [many('email', '7', '8')] },
    { notThese: new Set(['7']) },
    'IDENTITY_AMBIGUOUS',
  ],
  [
    'all of several hits were denied',
    { findings: [many('email', '7', '8')] },
    { notThese: new Set(['7', '8']) },
    create,
  ],
  ['e-mail alone', { findings: [one('email', '7')] }, {}, 'IDENTITY_AMBIGUOUS'],
  ['a number alone', { findings: [one('number', '7'), none('email')] }, {}, 'IDENTITY_AMBIGUOUS'],
  ['keys disagree', { findings: [one('number', '7'), one('email', '8')] }, {}, 'IDENTITY_AMBIGUOUS'],
  ['several by one key', { findings: [many('number', '7', '8')] }, {}, 'IDENTITY_AMBIGUOUS'],
  ['absence unproven', { findings: [unproven('email')] }, {}, 'IDENTITY_AMBIGUOUS'],
  [
    'linked to another person',
    { findings: [one('reference', '7')], links: linkedTo('7', false) },
    {},
    'EMPLOYEE_OF_ANOTHER',
  ],
  [
    'a person named an employee who is linked to somebody else',
    { named: inHr('7'), links: linkedTo('7', false) },
    { link: '7' },
    'EMPLOYEE_OF_ANOTHER',
  ],
  [
    'a person named an employee of their own',
    { named: inHr('7'), links: linkedTo('7', true) },
    { link: '7' },
    link('7'),
  ],
  ['a person named the employee', { named: inHr('7') }, { link: '7' }, link('7')],
  [
    'a person named somebody of another name',
    { named: inHr('7'), isOtherName: true },
    { link: '7' },
    'LINK_OTHER_NAME',
  ],
  [
    'a person named somebody of another name for a transfer',
    { named: inHr('7'), isOtherName: true },
    { link: '7', person: 'transfer' },
    'LINK_OTHER_NAME',
  ],
  [
    'a person named somebody of another name, who is linked to somebody else',
    { named: inHr('7'), isOtherName: true, links: linkedTo('7', false) },
    { link: '7' },
    'EMPLOYEE_OF_ANOTHER',
  ],
  ['a person named an employee that is not there', { named: undefined }, { link: '7' }, 'LINK_NOT_FOUND'],
  [
    'a named employee goes before what is found',
    { named: inHr('7'), findings: [one('reference', '8')] },
    { link: '7' },
    link('7'),
  ],
  ['the mapping lacks a field, and nobody is known', { problems: lacking, findings: nobody }, {}, 'MAPPING_INCOMPLETE'],
  ['the mapping lacks a field that a link does not write', { own: inHr('7'), problems: lacking }, {}, link('7')],
  [
    'the mapping lacks a field that a link to a named employee does not write',
    { named: inHr('7'), problems: lacking },
    { link: '7' },
    link('7'),
  ],
  [
    'the mapping lacks a field that the rehire of a named employee writes',
    { named: inHr('7'), former: '7', canRehire: true, problems: lacking },
    { link: '7' },
    'MAPPING_INCOMPLETE',
  ],
])('%s', (_what, observed, decisions, expected) => {
  const planned = planEmployee({ ...fresh, ...observed }, { ...undecided, ...decisions });
  if (typeof expected === 'string') expect(planned).toMatchObject({ verdict: 'hold', hold: { code: expected } });
  else expect(planned).toEqual(expected);
});

const before: KnownEmployee = { ...inHr('3'), number: 'E3' };

test.each<[string, Partial<EmployeeObservation>, Partial<Decisions>, unknown]>([
  ['same-employee links the employee', {}, { person: 'same-employee' }, { kind: 'link', employee: before }],
  [
    'same-employee needs no field of a new employee',
    { problems: lacking },
    { person: 'same-employee' },
    { kind: 'link', employee: before },
  ],
  [
    'transfer writes the job and leaves the person',
    {},
    { person: 'transfer' },
    { kind: 'update', employee: before, fields: { title: 'Engineer', startDate: '2026-12-01' } },
  ],
  ['new-employment creates', { findings: nobody }, { person: 'new-employment' }, create],
  [
    'new-employment does not take the earlier record for the new one',
    { findings: [one('email', '3')] },
    { person: 'new-employment' },
    create,
  ],
  [
    'new-employment asks about a third record',
    { findings: [one('email', '9')] },
    { person: 'new-employment' },
    'IDENTITY_AMBIGUOUS',
  ],
  ['this hire’s own employee goes first', { own: inHr('7') }, { person: 'transfer' }, link('7')],
  [
    'transfer brings back its own employee whom another hire took over',
    { own: before },
    { person: 'transfer' },
    { kind: 'update', employee: before, fields: { title: 'Engineer', startDate: '2026-12-01' } },
  ],
  [
    'same-employee leaves its own employee as the other hire wrote them',
    { own: before },
    { person: 'same-employee' },
    { kind: 'link', employee: before },
  ],
  [
    'new-employment makes a second record beside its own employee whom another hire took over',
    { own: before, findings: [one('reference', '3')] },
    { person: 'new-employment' },
    create,
  ],
  ['new-employment keeps a record of its own', { own: inHr('7') }, { person: 'new-employment' }, link('7')],
  [
    'new-employment does not ask about the Employee ID of the earlier record',
    { own: before, findings: nobody, told: 'E3' },
    { person: 'new-employment' },
    create,
  ],
])('a person hired before: %s', (_what, observed, decisions, expected) => {
  const planned = planEmployee({ ...fresh, before, ...observed }, { ...undecided, ...decisions });
  if (typeof expected === 'string') expect(planned).toMatchObject({ verdict: 'hold', hold: { code: expected } });
  else expect(planned).toEqual(expected);
});

test.each<[string, Partial<EmployeeObservation>, Partial<Decisions>, string]>([
  ['a new person is looked up', {}, {}, 'ladder'],
  ['a named employee is read', {}, { link: '7' }, 'named'],
  ['a known employee is not asked for', { own: inHr('7') }, {}, 'none'],
  ['a transfer needs no look', { before }, { person: 'transfer' }, 'none'],
  ['a new employment is looked up', { before }, { person: 'new-employment' }, 'ladder'],
  ['an incomplete mapping costs no call', { problems: lacking }, {}, 'none'],
  [
    'an incomplete mapping does not keep a named employee from being read',
    { problems: lacking },
    { link: '7' },
    'named',
  ],
])('%s', (_what, observed, decisions, reading) => {
  expect(readingFor({ ...fresh, ...observed }, { ...undecided, ...decisions })).toBe(reading);
});

test('the answer create to an ambiguous identity leads to a create', () => {
  const findings = [one('email', '7')];
  const asked = planEmployee({ ...fresh, findings }, undecided);
  if (!('verdict' in asked)) throw new Error('nothing was asked');
  const decisions = decide([{ answer: 'create', argument: undefined, details: asked.hold.details ?? {} }]);
  expect(planEmployee({ ...fresh, findings }, decisions)).toEqual(create);
  // Somebody who came to light since is a question again.
  expect(planEmployee({ ...fresh, findings: [one('email', '8')] }, decisions)).toMatchObject({ verdict: 'hold' });
});
