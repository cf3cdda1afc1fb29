import type { FieldValue } from '../../src/hire/hire.ts';
import { type Edits, keyOf, type Play } from './edits.ts';
import { comparable, type TwoWayField } from './fields.ts';
import { LIMITS } from './process.ts';
import type { Person } from './records.ts';
import { run } from './run.ts';

/** Both sides agree, on what they may agree on; a run over what is still writes nothing. */
export async function judge(play: Play, when: string): Promise<void> {
  const { world, people, removed, violations } = play;
  for (const person of people.filter((one) => !removed.has(one))) {
    const held = await world.read(person);
    if (held === undefined) violations.push(`${when}: employee ${person.employeeId} is lost`);
    else for (const field of world.fields) judgeField(play, when, person, { field, ...held });
  }
  const gone = world.store.all<{ pair_id: string }>('select pair_id from exchange_pairs where gone_at is not null');
  for (const { pair_id: id } of gone)
    if (![...removed].some(({ employeeId }) => employeeId === id))
      violations.push(`${when}: pair ${id} counts as gone`);
  for (const { employeeId } of removed)
    if (!gone.some(({ pair_id: id }) => id === employeeId))
      violations.push(`${when}: pair ${employeeId}, of which one side is deleted, does not count as gone`);
  // What was just written settles first; afterwards nobody may take it for an edit.
  world.clock.advance(4 * LIMITS.giveUpMs);
  const before = { ...world.writes };
  await run(play);
  const echoes = world.writes.partner + world.writes.hris - before.partner - before.hris;
  if (echoes > 0) violations.push(`${when}: a run over records that nobody edited wrote ${echoes} values`);
}

/** A run that died anywhere and says in the end that it is done left out nothing that was edited before it began. */
export async function judgeResumed(play: Play, when: string): Promise<void> {
  const { world, random } = play;
  const person = play.people.find((one) => !play.removed.has(one));
  const field = world.fields.find(({ name }) => name === 'costCentre');
  if (person === undefined || field === undefined) return;
  world.clock.advance(4 * LIMITS.giveUpMs);
  play.count += 1;
  const value = `CC-${play.count}`;
  play.edits.set(keyOf(person, field), { hris: value });
  await world.editHris(person, field, value);
  play.lives = 2 + Math.floor(random() * 70);
  const step = await run(play);
  play.lives = -1;
  const held = await world.read(person);
  if (step?.state === 'done' && held?.partner[field.name] !== value)
    play.violations.push(`${when}: ${field.name} of ${person.employeeId} was not covered by a run that is done`);
}

/** An owner who was empty when the sides first met wipes nothing out: that is reported. */
function isReported({ world }: Play, { employeeId }: Person, { name, owner }: TwoWayField): boolean {
  const reported = world.store.all(
    `select 1 from field_conflicts where pair_id = ? and field = ? and kind = 'diverged' and closed_at is null`,
    employeeId,
    name,
  );
  return owner !== 'either' && reported.length > 0;
}

/** A side put back what stood there before it was seen to hold a write: nobody lost an edit, and that is said. */
function isSaid({ world, edits }: Play, person: Person, { field, ...values }: Held): boolean {
  const made = edits.get(keyOf(person, field)) ?? {};
  const isOwn = (side: 'partner' | 'hris'): boolean => comparable(values[side][field.name]) === comparable(made[side]);
  const said = world.store.all(
    `select 1 from field_conflicts where pair_id = ? and field = ? and kind = 'quarantined'
      and code in ('NOT_SHOWN', 'NOT_KEPT') and closed_at is null`,
    person.employeeId,
    field.name,
  );
  return field.owner === 'either' && isOwn('partner') && isOwn('hris') && said.length > 0;
}

type Held = { field: TwoWayField; partner: Record<string, FieldValue>; hris: Record<string, FieldValue> };

function judgeField(play: Play, when: string, person: Person, held: Held): void {
  const { name } = held.field;
  const differ = comparable(held.partner[name]) !== comparable(held.hris[name]);
  if (differ && (isReported(play, person, held.field) || isSaid(play, person, held))) return;
  const wrong = wrongIn(play.edits, person, held);
  if (wrong !== undefined) play.violations.push(`${when}: ${wrong}`);
}

/** Why a field's values on both sides are not what the last edits say. What they agree on stays until a next edit. */
export function wrongIn(
  edits: Edits,
  person: Pick<Person, 'employeeId'>,
  { field, partner, hris }: Held,
): string | undefined {
  const { name, owner } = field;
  const [atPartner, atHris] = [comparable(partner[name]), comparable(hris[name])];
  const key = keyOf(person, field);
  const made = edits.get(key) ?? {};
  const shared = 'agreed' in made ? (['agreed'] as const) : (['partner', 'hris'] as const);
  const sides = owner === 'either' ? shared : [owner];
  const allowed = sides.filter((side) => side in made).map((side) => comparable(made[side]));
  // Nothing may happen to it until somebody edits it again.
  if (owner === 'either' && atPartner === atHris) edits.set(key, { agreed: hris[name] ?? null });
  const shown = `${name} of ${person.employeeId} (${owner}): partner ${atPartner}, hris ${atHris}`;
  if (atPartner !== atHris) return `${shown} differ`;
  return allowed.length > 0 && !allowed.includes(atPartner)
    ? `${shown}, no last edit (${allowed.join(', ')})`
    : undefined;
}
