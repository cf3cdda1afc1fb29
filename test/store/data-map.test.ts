import { describe, expect, test } from 'vitest';
import { OTHER_PLACES, STORE_PLACES } from '../../src/store/data-map.ts';
import { landings } from '../../src/streams/streams.ts';
import { freshStore, kinds } from './stores.ts';

test('every table where records land stands among the places outside the store', () => {
  const named = Object.values(OTHER_PLACES).flatMap(({ people }) => Object.keys(people).join());
  for (const name of Object.keys(landings)) expect(named.join()).toContain(`\`${name}\``);
});

describe.each(kinds)('the map of data, on %s', (kind) => {
  test('every column of every table stands in it once, and it names no other', async () => {
    const { store } = await freshStore(kind);
    const tables = await store.kysely.introspection.getTables({ withInternalKyselyTables: true });
    const there = tables.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column.name}`));
    const mapped = Object.entries(STORE_PLACES).flatMap(([name, place]) =>
      [...Object.keys('people' in place ? place.people : {}), ...place.others.split(' ')].map(
        (column) => `${name}.${column}`,
      ),
    );
    const missing = there.filter((column) => !mapped.includes(column));
    const gone = mapped.filter((column) => !there.includes(column) && !column.startsWith('kysely_'));
    const twice = mapped.filter((column, at) => mapped.indexOf(column) !== at);
    expect(
      missing,
      'Say in STORE_PLACES (src/store/data-map.ts) what these columns hold of a person. A table is an entry\n' +
        "  TABLE: { people: { COLUMN: ['pseudonym'] }, why: '...', kept: '...', others: 'every other column' },\n" +
        "or { others: '...' } where it holds nothing of a person. Then put what\n" +
        '`hirebridge person map` prints into docs/privacy.md.',
    ).toEqual([]);
    expect(gone, 'STORE_PLACES names columns that are no longer there. Take them out.').toEqual([]);
    expect(twice, 'STORE_PLACES names columns twice.').toEqual([]);
  });
});
