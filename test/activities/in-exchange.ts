import type { FieldValue } from '../../src/hire/hire.ts';
import type { ExchangeStep } from '../../src/streams/stream-activities.ts';
import { CALM } from '../convergence/calm.ts';
import { type TwoWayField, twoWayFields } from '../convergence/fields.ts';
import type { Conditions } from '../convergence/process.ts';
import type { Person } from '../convergence/records.ts';
import type { World } from '../convergence/world.ts';

let runs = 0;

export const fieldOf = (name: string): TwoWayField => twoWayFields.find((field) => field.name === name) as TwoWayField;

/** A run two minutes after whatever was before it. */
export function exchangeLater(world: World, conditions: Partial<Conditions> = {}): Promise<ExchangeStep> {
  world.clock.advance(120_000);
  runs += 1;
  return world.exchange(`run ${runs}`, { ...CALM, ...conditions });
}

/** What the partner and the HR system hold of one field. */
export async function bothValues(world: World, person: Person, name: string): Promise<FieldValue[]> {
  const held = await world.read(person);
  return [held?.partner[name] ?? null, held?.hris[name] ?? null];
}
