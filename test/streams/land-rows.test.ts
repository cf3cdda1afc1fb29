import { expect, test } from 'vitest';
import { ConnectorError } from '../../src/errors.ts';
import type { Landing } from '../../src/hris/port.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import { fieldChanges, landRows } from '../../src/streams/land-page.ts';
import { freshStore } from '../store/stores.ts';

test.each<[string, string, boolean]>([
  ['2026-11-24 04:12:00+00', '2026-11-24T04:12:00.000Z', true],
  ['2026-11-24 05:12:00.5+01', '2026-11-24T04:12:00.500Z', true],
  ['2026-11-24 04:12:00', '2026-11-24T04:12:00Z', true],
  ['2026-11-24 04:12:01+00', '2026-11-24T04:12:00.000Z', false],
  ['2026-11-24', '2026-11-25', false],
  ['room 12:30', 'room 12:31', false],
])('%s and %s are the same moment: %s', (old, now, same) => {
  expect(fieldChanges({ at: old }, { at: now })).toEqual(same ? {} : { at: { old, new: now } });
});

test.each(['reject', 'reauthorize'] as const)(
  'rows that the database refused (%s) leave no write open',
  async (action) => {
    const { store } = await freshStore('sqlite');
    const refusal = new ConnectorError({ code: 'LANDING_UNUSABLE', action, message: 'May not be written.' });
    const landing = {
      land: async (_stream, rows, { beforeWrite }) => {
        await beforeWrite?.(rows.map((row) => ({ row, before: undefined })));
        throw refusal;
      },
    } as Partial<Landing> as Landing;
    const mapping = { hash: 'm', fields: [] } as unknown as Mapping;
    const origin = { tenantId: 'acme', runId: 'r', mappingHash: 'm', by: 'hirebridge' };
    const destination = { landing, mapping, tenant: 'acme', stream: 'jobs', force: false, store, origin } as const;
    const rows = [{ id: '1', hash: 'h', fields: { title: 'Cook' } }];
    await expect(landRows(destination, rows)).rejects.toThrow('May not be written');
    expect(await store.kysely.selectFrom('foreign_writes').selectAll().where('outcome', '=', 'open').execute()).toEqual(
      [],
    );
  },
);
