import { describe, expect, test } from 'vitest';
import { ConnectorError } from '../../src/errors.ts';
import { entryOf } from '../../src/hire/answers.ts';
import { holdCatalogue } from '../../src/hire/hold-catalogue.ts';
import {
  type HoldCode,
  type HoldRequest,
  held,
  holdOf,
  hrisHold,
  reasonOf,
  refusalHold,
} from '../../src/hire/holds.ts';

const hire = { jobCandidateId: '5012' };
const other = { tenantId: 'globex', jobCandidateId: '4001', period: 1 };

/** Each hold as it is opened, and what its message must name. */
const opened: Record<HoldCode, [HoldRequest, string[]]> = {
  ENROLMENT_UNKNOWN: [holdOf('ENROLMENT_UNKNOWN', { ...hire, reference: 'acme:5012:1' }), ['5012', 'acme:5012:1']],
  ENROLLED_ELSEWHERE: [holdOf('ENROLLED_ELSEWHERE', hire), ['5012']],
  ENROLMENT_COMPLETED_ELSEWHERE: [
    holdOf('ENROLMENT_COMPLETED_ELSEWHERE', { ...hire, onboardingCandidateIds: ['oc-7', 'oc-8'] }),
    ['5012', 'oc-7, oc-8'],
  ],
  ADOPT_NOT_FOUND: [holdOf('ADOPT_NOT_FOUND', { onboardingCandidateId: 'oc-7' }), ['oc-7']],
  ADOPT_MISFIT: [
    holdOf('ADOPT_MISFIT', { ...hire, onboardingCandidateId: 'oc-7', misfit: 'is in flow 8' }),
    ['5012', 'oc-7', 'it is in flow 8.'],
  ],
  ADOPT_OTHER_EMAIL: [
    holdOf('ADOPT_OTHER_EMAIL', { ...hire, onboardingCandidateId: 'oc-7' }),
    ['5012', 'oc-7', 'adopt-anyway'],
  ],
  ENROLMENT_GONE: [holdOf('ENROLMENT_GONE', { ...hire, onboardingCandidateId: 'oc-7' }), ['5012', 'oc-7']],
  ONBOARDING_REJECTED: [holdOf('ONBOARDING_REJECTED', { ...hire, status: 'rejected' }), ['5012 is rejected']],
  ONBOARDING_FAILED: [holdOf('ONBOARDING_FAILED', { ...hire, status: 'failed' }), ['5012 is failed']],
  ONBOARDING_TERMINATED: [holdOf('ONBOARDING_TERMINATED', { ...hire, status: 'terminated' }), ['5012 is terminated']],
  ONBOARDING_DEADLINE: [holdOf('ONBOARDING_DEADLINE', hire), ['5012', 'deadline']],
  JOB_LEFT_SCOPE: [holdOf('JOB_LEFT_SCOPE', { ...hire, jobId: '501' }), ['Job 501', '5012', 'take-anyway']],
  JOB_NOT_SHOWN: [holdOf('JOB_NOT_SHOWN', { ...hire, jobId: '501' }), ['5012', 'job 501', 'job-as-known']],
  START_DATE_PAST: [
    holdOf('START_DATE_PAST', { ...hire, source: 'candidate.customFields[Start date]', days: 30 }),
    ['5012', 'customFields[Start date]', '30 days', 'start-in-past'],
  ],
  PERSON_HIRED_BEFORE: [holdOf('PERSON_HIRED_BEFORE', { ...hire, other }), ['5012', '4001 of tenant globex']],
  PERSON_RECORDED: [holdOf('PERSON_RECORDED', { ...hire, other }), ['5012', '4001 of tenant globex', 'link']],
  PERSON_BEING_HIRED: [holdOf('PERSON_BEING_HIRED', { ...hire, other }), ['5012', '4001 of tenant globex']],
  PERSON_HIRED_ELSEWHERE: [
    holdOf('PERSON_HIRED_ELSEWHERE', { ...hire, other }),
    ['5012', '4001 of tenant globex', 'another HR system', 'here-too'],
  ],
  MAPPING_INCOMPLETE: [
    holdOf('MAPPING_INCOMPLETE', { ...hire, problems: 'startDate is empty.', fields: { startDate: 'MISSING' } }),
    ['5012', 'startDate is empty.'],
  ],
  NAMES_USED_UP: [
    holdOf('NAMES_USED_UP', { ...hire, fields: ['userName', 'workEmail'], most: 99 }),
    ['5012', '99 names', 'userName, workEmail'],
  ],
  IDENTITY_AMBIGUOUS: [
    holdOf('IDENTITY_AMBIGUOUS', {
      ...hire,
      reason: 'several-records',
      keys: ['email', 'person'],
      employeeIds: ['7', '8'],
    }),
    ['5012', 'an employee (found by email, person: employees 7, 8)'],
  ],
  EMPLOYEE_OF_ANOTHER: [
    holdOf('EMPLOYEE_OF_ANOTHER', { ...hire, employeeIds: ['7'], other }),
    ['Employee 7', '5012', '4001 of tenant globex'],
  ],
  FORMER_EMPLOYEE: [
    holdOf('FORMER_EMPLOYEE', { ...hire, employeeIds: ['7'] }),
    ['5012', 'former employee 7', 'create'],
  ],
  LINK_NOT_FOUND: [holdOf('LINK_NOT_FOUND', { ...hire, employeeId: '404' }), ['404', '5012']],
  LINK_OTHER_NAME: [holdOf('LINK_OTHER_NAME', { ...hire, employeeId: '7' }), ['7', '5012', 'link-anyway']],
  RELINK_OTHER_NAME: [holdOf('RELINK_OTHER_NAME', { ...hire, employeeId: '7' }), ['7', '5012', 'link-anyway']],
  CREATE_UNKNOWN: [holdOf('CREATE_UNKNOWN', { ...hire, attempt: 2, employeeIds: ['7', '8'] }), ['5012', '7, 8']],
  EMPLOYEE_PENDING: [
    holdOf('EMPLOYEE_PENDING', { ...hire, ticket: 'hire-17-1', days: 14 }),
    ['5012', 'hire-17-1', '14 days'],
  ],
  REQUEST_LOST: [
    holdOf('REQUEST_LOST', { ...hire, ticket: 'hire-17-1', attempt: 1, employeeIds: ['7'] }),
    ['5012', 'hire-17-1', '7'],
  ],
  WRITE_BACK_TARGET_MISSING: [holdOf('WRITE_BACK_TARGET_MISSING', hire), ['5012', 'writeBack.customField']],
  WRITE_BACK_REFUSED: [
    holdOf('WRITE_BACK_REFUSED', { onboardingCandidateId: 'oc-7', refusal: 'INVALID_STATE', status: 'completed' }),
    ['oc-7', '(INVALID_STATE, completed)', 'partner.overrides.externalStatusBody', 'writeBack.customField'],
  ],
  WRITE_BACK_NOT_VERIFIED: [
    holdOf('WRITE_BACK_NOT_VERIFIED', { ...hire, targets: ['cf-1', 'cf-2'] }),
    ['5012', 'cf-1, cf-2', 'partner.overrides.externalStatusAt'],
  ],
  TOO_MANY_CANCELLATIONS: [holdOf('TOO_MANY_CANCELLATIONS', { ...hire, most: 5 }), ['5012', '5 hires']],
  TERMINATE_REFUSED: [
    holdOf('TERMINATE_REFUSED', { ...hire, onboardingCandidateIds: ['oc-7', 'oc-8'], refusal: 'X', said: 'Not now.' }),
    ['oc-7, oc-8', '5012', 'Not now.'],
  ],
  LEFT_AFTER_EMPLOYEE: [holdOf('LEFT_AFTER_EMPLOYEE', { ...hire, employeeId: '7' }), ['5012', 'employee 7']],
  LEFT_BEFORE_START: [
    holdOf('LEFT_BEFORE_START', { ...hire, employeeId: '7' }),
    ['5012', 'employee 7', 'no-show', 'moved', 'keep'],
  ],
  LEFT_WHILE_PENDING: [holdOf('LEFT_WHILE_PENDING', hire), ['5012', 'Withdraw the request there']],
  EMPLOYEE_GONE: [holdOf('EMPLOYEE_GONE', { ...hire, employeeId: '7' }), ['5012', 'employee 7', 'link']],
  EMPLOYEE_TOLD: [holdOf('EMPLOYEE_TOLD', { ...hire, told: '1007' }), ['5012', 'Employee ID 1007', 'create']],
  EMPLOYMENT_NOT_ENDED: [
    holdOf('EMPLOYMENT_NOT_ENDED', { ...hire, employeeId: '7', said: 'Not now.' }),
    ['5012', 'employee 7', 'Not now.', 'ended'],
  ],
  CREDITS_USED_UP: [holdOf('CREDITS_USED_UP', { required: 2, available: 1 }), ['has 1 ', 'needs 2']],
  INVITATION_CREDITS: [holdOf('INVITATION_CREDITS', { assessmentId: 'as-7' }), ['as-7', 'retry']],
  LEAD_CREDITS: [holdOf('LEAD_CREDITS', { jobId: '1001' }), ['1001', 'retry']],
  RESUME_CREDITS: [holdOf('RESUME_CREDITS', { jobId: '12' }), ['12', 'retry']],
  REQUISITION_UNKNOWN: [
    holdOf('REQUISITION_UNKNOWN', { requisitionId: 'R-1', jobIds: ['7', '8'] }),
    ['R-1', '7 or 8', 'link-job <jobId>', 'create-job'],
  ],
  ACCOUNT_OTHER_NAME: [
    holdOf('ACCOUNT_OTHER_NAME', { ...hire, destination: 'mail', employeeId: 'u7' }),
    ['5012', '"mail"', 'u7', 'link-anyway'],
  ],
  ACCOUNT_UNCLEAR: [
    holdOf('ACCOUNT_UNCLEAR', {
      ...hire,
      destination: 'mail',
      reason: 'weak-evidence',
      keys: ['email'],
      employeeIds: ['u7'],
    }),
    ['5012', '"mail"', 'u7', 'link <id>', 'dismiss'],
  ],
  AMENDMENTS: [holdOf('AMENDMENTS', { stream: 'amendments', count: 2 }), ['2 fields', 'amendments']],
  FIELD_CONFLICTS: [holdOf('FIELD_CONFLICTS', { stream: 'employees', count: 3 }), ['3 fields', 'employees']],
  POSITION_CONFLICTS: [holdOf('POSITION_CONFLICTS', { stream: 'positions', count: 2 }), ['2 fields', 'positions']],
  HIRES_NOT_RESTORED: [
    holdOf('HIRES_NOT_RESTORED', { jobCandidateIds: ['4', '5'] }),
    ['4, 5', 'Check in the HR system'],
  ],
  REBUILT_BASELINE: [holdOf('REBUILT_BASELINE', { jobCandidateIds: ['1', '2', '3'] }), ['3 other hired people']],
};

test('what stands at the candidate names nobody else, no command and nothing from outside', () => {
  const isOfHire = (code: string) => holdCatalogue[code as HoldCode].scope === 'hire';
  const ofHires = Object.entries(opened).flatMap(([code, one]) => (isOfHire(code) ? [one] : []));
  const said = [
    reasonOf(hrisHold(new ConnectorError({ code: 'DOWN', action: 'retry', message: 'Ana Reyes. Then answer retry.' }))),
    reasonOf({ code: 'VALUE_REFUSED', details: { said: 'Ana Reyes' } }),
    ...ofHires.map(([hold]) => reasonOf(hold)),
  ];
  expect(
    said.filter((text) =>
      /4001|globex|\b[78], 8|Ana|Not now|[Aa]nswer (?!came)|hirebridge (?!did|cannot|sent|undoes)|undefined/.test(text),
    ),
  ).toEqual([]);
  for (const code of ['EMPLOYEE_OF_ANOTHER', 'IDENTITY_AMBIGUOUS', 'CREATE_UNKNOWN'] as const)
    expect(reasonOf(opened[code][0])).toMatch(/^On hold: [^78]*5012[^78]* \[[A-Z_]+\]$/);
});

describe.each(Object.entries(opened))('%s', (code, [hold, names]) => {
  test('names what it is about and what each id is good for', () => {
    for (const name of names) expect(hold.message).toContain(name);
    expect(hold.message).not.toMatch(/undefined|null|\[object|NaN/);
  });

  test('keeps what it names, so that an answer can be judged by it', () => {
    expect(hold.code).toBe(code);
    expect(hold.details).not.toEqual({});
  });

  test('shows how to give the id that an answer takes', () => {
    const taking = hold.answers.filter((answer) => entryOf(answer)?.takes !== undefined);
    const says = (answer: string): boolean => new RegExp(`\\banswer ${answer}\\b`, 'i').test(hold.message);
    expect(taking.filter((answer) => !says(answer))).toEqual([]);
  });
});

test('an answer that only a whole tenant may give is offered for no single hire', () => {
  const ofHires = Object.values(holdCatalogue).filter(({ scope }) => scope === 'hire');
  const leadingNowhere = ofHires.flatMap(({ answers }) => answers.filter((a) => entryOf(a)?.next === undefined));
  expect(leadingNowhere).toEqual([]);
});

test('once there is an employee no hold offers to cancel the hire', () => {
  const after: HoldCode[] = [
    'EMPLOYEE_GONE',
    'RELINK_OTHER_NAME',
    'EMPLOYEE_TOLD',
    'WRITE_BACK_TARGET_MISSING',
    'WRITE_BACK_REFUSED',
    'WRITE_BACK_NOT_VERIFIED',
    'LEFT_AFTER_EMPLOYEE',
    'LEFT_BEFORE_START',
    'EMPLOYMENT_NOT_ENDED',
  ];
  expect(after.filter((code) => (holdCatalogue[code].answers as readonly string[]).includes('cancel'))).toEqual([]);
});

describe('what is not known is said so', () => {
  test.each<[string, HoldRequest, string]>([
    [
      'nobody found, nothing proven',
      holdOf('IDENTITY_AMBIGUOUS', { ...hire, reason: 'absence-unproven', keys: [], employeeIds: [] }),
      'cannot prove that there is none',
    ],
    [
      'credits without amounts',
      holdOf('CREDITS_USED_UP', { required: null, available: null }),
      'has too few onboarding',
    ],
    ['no credit left is an amount', holdOf('CREDITS_USED_UP', { required: 1, available: 0 }), 'has 0 onboarding'],
    [
      'a refusal of an enrolment that was not read',
      holdOf('WRITE_BACK_REFUSED', { onboardingCandidateId: 'oc', refusal: 'CONFLICT', status: null }),
      '(CONFLICT, status unknown)',
    ],
  ])('%s', (_what, { message }, says) => {
    expect(message).toContain(says);
    expect(message).not.toContain('null');
  });

  test('a create without an answer shows no list where nobody was found', () => {
    expect(holdOf('CREATE_UNKNOWN', { ...hire, attempt: 1, employeeIds: [] }).message).not.toContain('It shows');
  });
});

test('the details are a copy: what is changed later does not change what was asked', () => {
  const about = { ...hire, employeeId: '7' };
  const { hold } = held('LINK_NOT_FOUND', about);
  about.employeeId = '8';
  expect(hold.details).toEqual({ jobCandidateId: '5012', employeeId: '7' });
});

describe('a refusal from outside', () => {
  const refusal = (details?: Record<string, unknown>) =>
    new ConnectorError({
      code: 'FLOW_INACTIVE',
      action: 'reject',
      message: 'Flow 9 is inactive.',
      ...(details && { details }),
    });

  test.each([
    ['before there is an employee the hire can be cancelled', 'before-employee', ['retry', 'cancel']],
    ['after that it can only be kept', 'after-employee', ['retry', 'keep']],
    ['while it ends it can be kept as it is', 'ending', ['retry', 'keep']],
  ] as const)('%s', (_what, when, answers) => {
    expect(refusalHold(refusal(), when)).toEqual({
      verdict: 'hold',
      hold: { code: 'FLOW_INACTIVE', message: 'Flow 9 is inactive.', answers },
    });
  });

  test.each([
    ['Row 9 was refused. It said: Ada Byron is known', 'Ada Byron is known', 'Row 9 was refused. It said: …'],
    ['Row 9 was not made. It said: no', 'no', 'Row 9 was not made. It said: …'],
    ['no', 'no', '…'],
  ])('tells a workflow none of the other side’s words: %s', (message, said, told) => {
    const error = new ConnectorError({ code: 'REFUSED', action: 'reject', message, said });
    expect(refusalHold(error, 'ending').hold.message).toBe(told);
    expect(error.withoutWords(`ConnectorError: ${message}\n  at row`)).not.toContain(`said: ${said}`);
  });

  test('keeps its details where it has any', () => {
    expect(refusalHold(refusal({ fields: ['email'] }), 'ending').hold.details).toEqual({ fields: ['email'] });
  });
});

describe('trouble with an HR system', () => {
  test.each([
    ['UNAUTHORIZED', 'HRIS_UNAUTHORIZED'],
    ['HRIS_DOWN', 'HRIS_DOWN'],
    ['NO_HRIS_HERE', 'HRIS_NO_HRIS_HERE'],
  ])('%s is held as %s, and may be looked at again', (code, expected) => {
    const hold = hrisHold(new ConnectorError({ code, action: 'reject', message: 'It says no.' }));
    expect(hold).toMatchObject({ code: expected, answers: ['retry'] });
    expect(hold.message).toMatch(/^It says no\. Hires that need it wait/);
  });

  test('is told in our words, because theirs may name somebody', () => {
    const said = 'Ada Byron has no access';
    const message = `The HR system refused its credentials. It said: ${said}`;
    const hold = hrisHold(new ConnectorError({ code: 'HRIS_AUTH', action: 'reauthorize', message, said }));
    expect(hold.message).toMatch(/^The HR system refused its credentials\. It said: … Hires that need it wait/);
  });
});
