import { describe, expect, test } from 'vitest';
import { type FieldFlow, type FieldState, mergeField, type Seen } from '../../src/exchange/see-fields.ts';

const seen = (form: string): Seen => ({ form, isEmpty: form === '' });

function merge(
  flow: FieldFlow,
  base: string | undefined,
  partner: string,
  hris: string,
  more: Partial<FieldState> = {},
) {
  return mergeField(flow, { base, partner: seen(partner), hris: seen(hris), ...more });
}

const ofPartner: FieldFlow = { owner: 'partner' };
const ofHris: FieldFlow = { owner: 'hris' };
const either = (conflict: NonNullable<FieldFlow['conflict']>): FieldFlow => ({ owner: 'either', conflict });

describe('every owner', () => {
  test.each([ofPartner, ofHris, either('hold')])(
    'agrees where both sides hold the same, whatever the base: %o',
    (flow) => {
      expect(merge(flow, 'a', 'a', 'a')).toEqual({ verdict: 'agreed' });
      expect(merge(flow, 'a', 'b', 'b')).toEqual({ verdict: 'agreed' });
      expect(merge(flow, undefined, 'b', 'b')).toEqual({ verdict: 'agreed' });
    },
  );

  test('a value that cannot be read is set apart, and nothing is written', () => {
    const unreadable = { unreadable: 'NOT_AN_OPTION' };
    const quarantined = { verdict: 'quarantine', code: 'NOT_AN_OPTION' };
    expect(merge(ofPartner, 'a', '', 'a', { partner: unreadable })).toEqual(quarantined);
    expect(merge(ofPartner, 'a', 'b', '', { hris: unreadable })).toEqual(quarantined);
  });
});

describe('one owner', () => {
  test('an edit of the owner flows', () => {
    expect(merge(ofPartner, 'a', 'b', 'a')).toEqual({ verdict: 'write', to: 'hris' });
    expect(merge(ofHris, 'a', 'a', 'b')).toEqual({ verdict: 'write', to: 'partner' });
  });

  test('an owner who clears the field clears the other side', () => {
    expect(merge(ofPartner, 'a', '', 'a')).toEqual({ verdict: 'write', to: 'hris' });
  });

  test('an edit of the other side is put back, and recorded', () => {
    expect(merge(ofPartner, 'a', 'a', 'b')).toEqual({ verdict: 'write', to: 'hris', over: 'put-back' });
    expect(merge(ofHris, 'a', 'b', 'a')).toEqual({ verdict: 'write', to: 'partner', over: 'put-back' });
  });

  test('where both edited, the owner stays, and the other value is recorded', () => {
    expect(merge(ofHris, 'a', 'b', 'c')).toEqual({ verdict: 'write', to: 'partner', over: 'put-back' });
  });

  test('with report, an edit of the other side stays until the owner edits', () => {
    expect(merge({ ...ofHris, report: true }, 'a', 'b', 'a')).toEqual({ verdict: 'diverged' });
    const put = { verdict: 'write', to: 'partner', over: 'put-back' };
    expect(merge({ ...ofHris, report: true }, 'a', 'b', 'c')).toEqual(put);
  });

  test('at the first meeting the owner fills the other side, and an empty owner wipes nothing out', () => {
    expect(merge(ofHris, undefined, '', 'a')).toEqual({ verdict: 'write', to: 'partner' });
    expect(merge(ofHris, undefined, 'b', 'a')).toEqual({ verdict: 'write', to: 'partner', over: 'put-back' });
    expect(merge(ofHris, undefined, 'b', '')).toEqual({ verdict: 'diverged' });
    expect(merge({ ...ofHris, report: true }, undefined, 'b', 'a')).toEqual({ verdict: 'diverged' });
  });
});

describe('either side', () => {
  test('the edit of one side flows to the other, empty values too', () => {
    expect(merge(either('hold'), 'a', 'b', 'a')).toEqual({ verdict: 'write', to: 'hris' });
    expect(merge(either('hold'), 'a', 'a', 'b')).toEqual({ verdict: 'write', to: 'partner' });
    expect(merge(either('hold'), 'a', 'a', '')).toEqual({ verdict: 'write', to: 'partner' });
  });

  test.each(['partner', 'hris'] as const)('where both edited, the value of %s stays, and both are recorded', (side) => {
    const to = side === 'partner' ? 'hris' : 'partner';
    expect(merge(either(side), 'a', 'b', 'c')).toEqual({ verdict: 'write', to, over: 'conflict' });
  });

  test('where both edited, a person is asked, and the answer counts for exactly these two values', () => {
    expect(merge(either('hold'), 'a', 'b', 'c')).toEqual({ verdict: 'hold' });
    const decided = { partner: 'b', hris: 'c', keep: 'hris' } as const;
    const written = { verdict: 'write', to: 'partner', over: 'conflict' };
    expect(merge(either('hold'), 'a', 'b', 'c', { decided })).toEqual(written);
    expect(merge(either('hold'), 'a', 'b', 'd', { decided })).toEqual({ verdict: 'hold' });
  });

  test('at the first meeting an empty side is filled, and two values are a conflict', () => {
    expect(merge(either('partner'), undefined, '', 'c')).toEqual({ verdict: 'write', to: 'partner' });
    expect(merge(either('hris'), undefined, 'b', '')).toEqual({ verdict: 'write', to: 'hris' });
    expect(merge(either('hris'), undefined, 'b', 'c')).toEqual({ verdict: 'write', to: 'partner', over: 'conflict' });
  });
});
