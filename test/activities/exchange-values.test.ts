import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FieldValue, Side } from '../../src/hire/hire.ts';
import { partnerTargets } from '../../src/mapping/source-fields.ts';
import { entityOf } from '../../src/streams/streams.ts';
import { CALM } from '../convergence/calm.ts';
import { comparable, type TwoWayField, twoWayFields } from '../convergence/fields.ts';
import type { Person } from '../convergence/records.ts';
import { createWorld, exchanged, exchangedPositions, type World } from '../convergence/world.ts';

const PEOPLE = 40;
/** `HIREBRIDGE_SEED` plays others. */
const SEED = Number(process.env['HIREBRIDGE_SEED'] ?? 13);

/** Text as people type it: letters of every kind, and nothing invisible around it. */
const text = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
  .map((typed) => typed.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Cn}]/gu, '').trim())
  .filter((typed) => typed !== '');
const day = fc.date({ min: new Date('1930-01-01'), max: new Date('2090-12-31'), noInvalidDate: true });
const decimal = fc.tuple(fc.integer({ min: -1_000_000, max: 1_000_000 }), fc.nat(99));

/** Canonical values of each type. */
function valuesOf({ type, at }: TwoWayField): fc.Arbitrary<FieldValue> {
  const options = 'options' in at ? (at.options ?? []) : [];
  if (type === 'list') return fc.subarray(options, { minLength: 1 });
  if (options.length > 0) return fc.constantFrom(...options);
  if (type === 'number') return decimal.map(([whole, part]) => whole + part / 100).map((n) => Number(n.toFixed(2)));
  if (type === 'boolean') return fc.boolean();
  return type === 'date' ? day.map((one) => one.toISOString().slice(0, 10)) : text;
}

async function exchange(world: World, runId: string): Promise<void> {
  world.clock.advance(120_000);
  expect(await world.exchange(runId, CALM)).toMatchObject({ state: 'done', counts: { quarantined: 0, held: 0 } });
}

async function bothSides(world: World, person: Person, { name }: TwoWayField): Promise<string[]> {
  const held = await world.read(person);
  return [comparable(held?.partner[name]), comparable(held?.hris[name])];
}

const written = (value: FieldValue): string[] => [comparable(value), comparable(value)];

/** Fields of a profile that are lists; all others are text. */
const LISTS: readonly string[] = ['skills', 'majors', 'languages'];
const word = text.map((typed) => typed.replaceAll(',', '')).filter((typed) => typed.trim() === typed && typed !== '');
const words = fc.uniqueArray(word, { minLength: 1, maxLength: 5 });
let addresses = 0;
const address = fc.constant(null).map(() => `person${(addresses += 1)}@example.org`);

/** Every field of a candidate that the partner lets an integration change. */
const profileFields = partnerTargets.candidate.fields.map((property): TwoWayField => {
  const type = LISTS.includes(property) ? 'list' : property === 'dateOfBirth' ? 'date' : 'text';
  const name = `own${property}`;
  return { name, column: `own_${property.toLowerCase()}`, type, owner: 'either', at: { property }, value: () => null };
});

function profileValues({ at, type }: TwoWayField): fc.Arbitrary<FieldValue> {
  if (type === 'list') return words;
  if (type === 'date') return day.map((one) => one.toISOString().slice(0, 10));
  return 'property' in at && at.property === 'email' ? address : text;
}

/** As the tenant's mapping says `both`, with either side allowed to edit. */
const mapping = (fields: readonly TwoWayField[], entity: string): string =>
  `fields:\n${fields
    .map(({ name, at }) => {
      const from = 'property' in at ? `${entity}.${at.property}` : `"${entity}.customFields[${at.label}]"`;
      const previous = /currentJobTitle|currentCompany/.test(name) ? ', acknowledge: previousJob' : '';
      return `  ${name}: { from: ${from}, direction: both, owner: either, conflict: hris${previous} }\n`;
    })
    .join('')}`;

const sets = [
  { what: 'every type of custom field', carried: { ...exchanged, fields: twoWayFields }, valueOf: valuesOf },
  { what: 'every field of the profile', carried: { ...exchanged, fields: profileFields }, valueOf: profileValues },
  { what: 'every type of custom field of a job', carried: exchangedPositions, valueOf: valuesOf },
];

describe.each(sets)('values of $what', ({ carried, valueOf }) => {
  const { stream, fields = [] } = carried;
  test.each(['partner', 'hris'] as const)(
    'written on the side %s are read equal on both, and stay what they were written',
    async (side: Side) => {
      const world = await createWorld(mapping(fields, entityOf(stream)), carried);
      const people: Person[] = [];
      for (let n = 0; n < PEOPLE; n += 1) people.push(await world.hire());
      const samples = new Map(
        fields.map((field) => [field, fc.sample(valueOf(field), { numRuns: PEOPLE, seed: SEED })]),
      );
      const each = people.flatMap((person, nth) =>
        fields.map((field) => ({ person, field, value: samples.get(field)?.[nth] ?? null })),
      );
      for (const { person, field, value } of each)
        if (side === 'partner') world.editPartner(person, field, value);
        else await world.editHris(person, field, value);
      world.allowMany();
      await exchange(world, 'there');
      for (const { person, field, value } of each)
        expect(await bothSides(world, person, field)).toEqual(written(value));
      const { partner, hris } = world.writes;
      await exchange(world, 'and back');
      expect(world.writes).toEqual({ partner, hris });
      for (const { person, field, value } of each)
        expect(await bothSides(world, person, field)).toEqual(written(value));
      await world.close();
    },
  );
});
