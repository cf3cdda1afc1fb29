import { describe, expect, test } from 'vitest';
import { noteTrouble, readDigest } from '../../src/store/alarms.ts';
import { endHire } from '../../src/store/hire-states.ts';
import { insertHires } from '../../src/store/hires.ts';
import { openHold } from '../../src/store/holds.ts';
import { readClock } from '../../src/store/open-store.ts';
import { freshStore, kinds } from './stores.ts';

const HOUR_MS = 3_600_000;

function hire(jobCandidateId: string, tenantId = 'acme') {
  return { tenantId, jobCandidateId, period: 1 };
}

describe.each(kinds)('digests on %s', (kind) => {
  test('a day counts what began and ended in it, and names what waits with its reason', async () => {
    const { store } = await freshStore(kind);
    await insertHires(store, [
      { ...hire('1'), state: 'open' },
      { ...hire('2'), state: 'open' },
      { ...hire('3'), state: 'before-go-live' },
      { ...hire('4', 'globex'), state: 'open' },
    ]);
    await endHire(store, hire('1'), 'done');
    const hold = { code: 'MAPPING_INCOMPLETE', message: 'A field is missing.', answers: ['retry'] };
    const { holdId } = await openHold(store, { ...hire('2'), ...hold });
    const trouble = { kind: 'activity-failing', subject: 'verify', reason: 'HTTP_502', message: 'It fails.' } as const;
    await noteTrouble(store, { tenantId: 'acme', ...trouble }, 0);
    const now = await readClock(store);
    expect(await readDigest(store, 'acme', now - HOUR_MS, now + HOUR_MS)).toMatchObject({
      hires: { begun: 2, ended: { done: 1 }, open: 1, done: ['1'] },
      holds: { opened: 1, open: 1, waiting: [{ holdId, jobCandidateId: '2', code: 'MAPPING_INCOMPLETE' }] },
      alarms: [trouble],
    });
    expect(await readDigest(store, 'acme', now - 2 * HOUR_MS, now - HOUR_MS)).toMatchObject({
      hires: { begun: 0, ended: {}, open: 1 },
      holds: { opened: 0, open: 1 },
    });
  });
});
