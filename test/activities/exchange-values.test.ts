import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FieldValue } from '../../src/hire/employee.ts';
import type { Side } from '../../src/hire/side.ts';
import { comparable, type TwoWayField, twoWayFields } from '../convergence/fields.ts';
import { createWorld, type Person, type World } from '../convergence/world.ts';

const PEOPLE = 40;
/** `HIREBRIDGE_SEED` plays others. */
const SEED = Number(process.env['HIREBRIDGE_SEED'] ?? 13);
const CALM = {
  pause: async () => undefined,
  mishap: () => undefined,
  later: () => undefined,
  updateMishap: () => undefined,
};

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

/** As the tenant's mapping says `both`, with either side allowed to edit. */
const mapping = (): string =>
  `fields:\n${twoWayFields
    .map(({ name, at }) => {
      const from = 'property' in at ? `candidate.${at.property}` : `"candidate.customFields[${at.label}]"`;
      return `  ${name}: { from: ${from}, direction: both, owner: either, conflict: hris }\n`;
    })
    .join('')}`;

test.each(['partner', 'hris'] as const)(
  'values of every type written on the side %s are read equal on both, and stay what they were written',
  async (side: Side) => {
    const world = await createWorld(mapping());
    const people: Person[] = [];
    for (let n = 0; n < PEOPLE; n += 1) people.push(await world.hire());
    const samples = new Map(
      twoWayFields.map((field) => [field, fc.sample(valuesOf(field), { numRuns: PEOPLE, seed: SEED })]),
    );
    const each = people.flatMap((person, nth) =>
      twoWayFields.map((field) => ({ person, field, value: samples.get(field)?.[nth] ?? null })),
    );
    for (const { person, field, value } of each)
      if (side === 'partner') world.editPartner(person, field, value);
      else await world.editHris(person, field, value);
    await exchange(world, 'there');
    for (const { person, field, value } of each) expect(await bothSides(world, person, field)).toEqual(written(value));
    const { partner, hris } = world.writes;
    await exchange(world, 'and back');
    expect(world.writes).toEqual({ partner, hris });
    for (const { person, field, value } of each) expect(await bothSides(world, person, field)).toEqual(written(value));
    await world.close();
  },
);
