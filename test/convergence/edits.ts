import type { FieldValue } from '../../src/hire/hire.ts';
import type { Random } from '../../src/sandbox/random.ts';
import type { TwoWayField } from './fields.ts';
import type { Person } from './records.ts';
import type { World } from './world.ts';

/** How often a webhook is lost, comes twice, or comes so late that others overtake it. */
const CHANCE = { hintLost: 0.2, hintTwice: 0.2, hintLate: 0.2 };
const MOST_LATE_MS = 60_000;

/** By person and field. */
export type Edits = Map<string, Partial<Record<Side | 'agreed', FieldValue>>>;

/** One seed under way. */
export interface Play {
  world: World;
  random: Random;
  people: Person[];
  removed: Set<Person>;
  /** The last edit of each side since both agreed; of an owner, the last one of all. */
  edits: Edits;
  /** Which side edits a shared field in this round. */
  editors: Map<string, Side | 'both'>;
  count: number;
  kills: number;
  freezes: number;
  /** Processes that are neither dead nor done. */
  alive: Set<Promise<unknown>>;
  runs: number;
  violations: string[];
  calm: boolean;
  /** So many more interruptions, and the process dies; none below zero. */
  lives: number;
  /** The partner left out a record that it has: once a round, so that two passes never miss the same. */
  hidden: boolean;
}

export type Side = 'partner' | 'hris';

/** Somebody edits something; who may edit a shared field is the same for a round. */
export async function editSomething(play: Play): Promise<void> {
  const { random, people, removed } = play;
  const { fields } = play.world;
  const present = people.filter((one) => !removed.has(one));
  const person = present[Math.floor(random() * present.length)];
  const field = fields[Math.floor(random() * fields.length)];
  if (person === undefined || field === undefined) return;
  const key = keyOf(person, field);
  const editors = play.editors.get(key) ?? (['partner', 'hris', 'both'] as const)[Math.floor(random() * 3)] ?? 'both';
  play.editors.set(key, editors);
  const side = editors === 'both' ? (random() < 0.5 ? 'partner' : 'hris') : editors;
  await edit(play, person, field, side, valueOf(play, field));
}

export async function edit(
  play: Play,
  person: Person,
  field: TwoWayField,
  side: Side,
  value: FieldValue,
): Promise<void> {
  const { world } = play;
  play.count += 1;
  noteEdit(play.edits, keyOf(person, field), { [side]: value });
  if (side === 'partner') world.editPartner(person, field, value);
  else await world.editHris(person, field, value);
  hint(play, side === 'partner' ? person.candidateId : person.employeeId);
}

/** What the sides agreed on before counts no more. */
export function noteEdit(edits: Edits, key: string, edited: Partial<Record<Side, FieldValue>>): void {
  const { agreed: _over, ...before } = edits.get(key) ?? {};
  edits.set(key, { ...before, ...edited });
}

/** Webhooks are lost, come twice, and overtake each other. */
function hint({ world, random }: Play, recordId: string): void {
  if (random() < CHANCE.hintLost) return;
  const { clock } = world;
  const lateMs = random() < CHANCE.hintLate ? random() * MOST_LATE_MS : 0;
  if (lateMs > 0) clock.at(clock.now() + lateMs, () => world.hint(recordId));
  else world.hint(recordId);
  if (random() < CHANCE.hintTwice) world.hint(recordId);
}

/** The application of somebody is deleted, or their employee, as long as others are left. */
export function removeSomebody(play: Play): void {
  const present = play.people.filter((one) => !play.removed.has(one));
  const person = present.length > 2 ? present[0] : undefined;
  if (person === undefined) return;
  play.removed.add(person);
  if (play.random() < 0.5) play.world.removeCandidate(person);
  else play.world.removeEmployee(person);
}

export function valueOf(play: Play, field: TwoWayField): FieldValue {
  return field.value(play.random, play.count);
}

export function keyOf({ employeeId }: Pick<Person, 'employeeId'>, { name }: TwoWayField): string {
  return `${employeeId} ${name}`;
}
