import { describe, expect, it } from 'vitest';
import { assumptions } from '../../src/partner/contract/assumptions.ts';
import { readErrorBody } from '../../src/partner/contract/endpoint.ts';
import { EventEnvelope, eventNames, events, idsOf, isEventName } from '../../src/partner/contract/events.ts';
import {
  allEndpoints,
  contract,
  defaultOverrides,
  Overrides,
  undefinedEndpoints,
} from '../../src/partner/contract/index.ts';
import { eventFacts, pageFacts } from './facts.ts';

const endpoints = allEndpoints();

describe('the contract tree', () => {
  it('names each endpoint by its place', () => {
    const places = Object.entries(contract).flatMap(([section, own]) =>
      Object.keys(own).map((key) => `${section}.${key}`),
    );
    expect(endpoints.map(({ id }) => id)).toEqual(places);
  });

  it('marks as assumed only questions that have an answer', () => {
    const keys = Object.keys(assumptions);
    expect(endpoints.flatMap(({ assumed }) => assumed ?? []).filter((key) => !keys.includes(key))).toEqual([]);
  });

  it('marks each list whose way of counting pages is not shown', () => {
    const shown = new Set(pageFacts.map(({ endpoint }) => endpoint));
    const paged = endpoints.filter(({ list }) => list?.paging !== undefined);
    const silent = paged.filter(({ method, path }) => !shown.has(`${method} ${path}`));
    const marked = endpoints.filter(({ assumed }) => assumed?.includes('PAGES'));
    expect(marked.map(({ id }) => id)).toEqual(silent.map(({ id }) => id));
  });

  it('lets a tenant override only overrides that exist', () => {
    const overrides = Object.values(assumptions).flatMap((one) => ('override' in one ? [one.override] : []));
    expect(overrides.filter((key) => !(key in defaultOverrides))).toEqual([]);
    expect(new Set(Object.keys(defaultOverrides))).toEqual(new Set<string>(overrides));
  });

  it('takes a tenant file that overrides one name and refuses an unknown one', () => {
    expect(Overrides.parse({ externalStatusBody: { employeeId: 'employee_id' } })).toEqual({
      ...defaultOverrides,
      externalStatusBody: { status: 'status', employeeId: 'employee_id' },
    });
    expect(Overrides.safeParse({ employeeId: 'x' }).success).toBe(false);
  });

  it('gives no route to what the specification does not show', () => {
    const ids = endpoints.map(({ id }) => id);
    expect(undefinedEndpoints.filter(({ id }) => ids.includes(id))).toEqual([]);
    expect(undefinedEndpoints.every((endpoint) => !('path' in endpoint))).toBe(true);
  });

  it('lists each error of an endpoint once', () => {
    for (const { id, errors } of endpoints) {
      const keys = errors.map(({ code, field }) => `${code} ${field ?? ''}`);
      expect({ id, keys: [...new Set(keys)] }).toEqual({ id, keys });
    }
  });

  it('marks the calls that cost credits', () => {
    expect(endpoints.filter(({ costsCredit }) => costsCredit).map(({ id }) => id)).toEqual([
      'candidates.add',
      'candidates.uploadResumes',
      'jobCandidates.rescore',
      'jobCandidates.uploadResumes',
      'assessments.createAudioInterview',
      'assessments.autoGenerate',
      'assessments.generateQuestions',
      'onboarding.enrol',
      'onboarding.enrolBulk',
    ]);
  });

  it('never splits a call that costs credits', () => {
    expect(endpoints.filter(({ costsCredit, chunk }) => costsCredit && chunk)).toEqual([]);
  });
});

describe('an error body', () => {
  it.each([
    [
      'canonical',
      { error: { code: 'A', type: 't', message: 'm', details: { a: 'b' } } },
      { code: 'A', type: 't', message: 'm', details: { a: 'b' } },
    ],
    [
      'with errorMessage',
      { error: { code: 'A', type: 't', errorMessage: 'm' } },
      { code: 'A', type: 't', message: 'm' },
    ],
    [
      'with statusCode on top',
      { statusCode: 404, error: { code: 'A', errorMessage: 'm' } },
      { code: 'A', message: 'm' },
    ],
    [
      'flat',
      { statusCode: 404, code: 'NOT_FOUND', type: 'not_found', errorMessage: 'm' },
      { code: 'NOT_FOUND', type: 'not_found', message: 'm' },
    ],
    ['of a key', { message: 'Invalid API key' }, { message: 'Invalid API key' }],
    ['of an account', { code: 'ACCOUNT_INACTIVE', message: 'm' }, { code: 'ACCOUNT_INACTIVE', message: 'm' }],
  ])('%s is read', (_shape, body, error) => {
    const none = { code: undefined, type: undefined, details: undefined };
    expect(readErrorBody(body)).toEqual({ ...none, ...error });
  });

  it.each(['<html>', undefined, null, [], {}, { error: 'text' }])('%j is none', (body) => {
    expect(readErrorBody(body)).toBeUndefined();
  });
});

describe('events', () => {
  it('are the 29 of section 6', () => {
    expect(new Set<string>(eventNames)).toEqual(new Set(eventFacts));
    expect(isEventName('interview.error')).toBe(false);
    expect(isEventName('toString')).toBe(false);
  });

  it.each([12, '12', undefined, null])('carry companyId %j', (companyId) => {
    const read = EventEnvelope.parse({ event: 'job.created', timestamp: '2026-01-05T00:00:00Z', companyId, data: {} });
    expect(read.companyId ?? undefined).toBe(companyId === null || companyId === undefined ? undefined : '12');
  });

  it.each(eventNames)('%s is accepted with nothing in it and with more than is shown', (name) => {
    expect(events[name].safeParse({}).success).toBe(true);
    expect(events[name].safeParse({ unheard: { of: 1 } }).data).toMatchObject({ unheard: { of: 1 } });
  });

  it('give their ids as text without repeats, one level deep, whatever the payload', () => {
    const data = { jobCandidateId: 1, jobCandidateIds: ['1', 2, null], candidate: { onboardingCandidateId: 'o' } };
    expect(idsOf(data, 'jobCandidateId')).toEqual(['1', '2']);
    expect(idsOf(data, 'onboardingCandidateId')).toEqual(['o']);
    expect(idsOf(data, 'offerId')).toEqual([]);
  });
});
