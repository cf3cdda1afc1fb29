import { foldLabel } from '../../mapping/read-source.ts';
import { stageTypes } from '../../partner/contract/pipelines.ts';
import { didYouMean } from '../../yaml/explain-issues.ts';
import type { IdPlace, ThingKind } from './id-places.ts';

/** Something of the hiring platform that a tenant file may name. */
export interface NamedThing {
  id: string;
  label: string;
  /** What tells it from others of the same label. */
  about: string;
}

export type NamedThings = Readonly<Record<ThingKind, readonly NamedThing[]>>;

/** `leave`: the text stays as it is. `refusal`: what is unclear, and the next step. */
export type SettledId = 'leave' | { thing: NamedThing } | { refusal: string };

const NAMES: Record<ThingKind, string> = {
  flow: 'onboarding flow',
  stage: 'stage',
  candidateField: 'candidate custom field',
  jobField: 'job custom field',
  team: 'team',
  job: 'job',
};
const MOST_CANDIDATES = 20;

/** What a place of a tenant file means: an id by itself, else the only thing of that label. */
export function settleId(place: IdPlace, things: readonly NamedThing[]): SettledId {
  const { kind, wanted } = place;
  if (kind === 'stage' && stageTypes.some((type) => type === wanted.toUpperCase())) return 'leave';
  const byId = things.find(({ id }) => id === wanted);
  if (byId !== undefined) return { thing: byId };
  const fitting = isPlaceholder(wanted) ? fillers(kind, things) : labelled(wanted, things);
  const [only] = fitting;
  if (only === undefined || fitting.length > 1) return { refusal: refusalOf(place, things, fitting) };
  // Scopes of two tenants are compared as they are written, and this one place takes labels.
  return kind === 'jobField' ? 'leave' : { thing: only };
}

/** As the documentation writes what is still to be filled in: `<flowId>`. */
function isPlaceholder(wanted: string): boolean {
  return /^<.*>$/.test(wanted);
}

/** The only flow can be meant; the only custom field or job would be a guess. */
function fillers(kind: ThingKind, things: readonly NamedThing[]): readonly NamedThing[] {
  return kind === 'flow' && things.length === 1 ? things : [];
}

function labelled(wanted: string, things: readonly NamedThing[]): NamedThing[] {
  return things.filter(({ label }) => foldLabel(label) === foldLabel(wanted));
}

function refusalOf({ kind, path, wanted }: IdPlace, things: readonly NamedThing[], fitting: readonly NamedThing[]) {
  const name = NAMES[kind];
  const where = `"${path.join('.')}" is "${wanted}"`;
  const next = 'write the id of the one that is meant, and run it again.';
  if (things.length === 0) return `${where}, and the hiring platform has no ${name} at all. Create it there first.`;
  if (fitting.length > 1)
    return `${where}, and ${fitting.length} of the kind "${name}" are called that: ${listed(fitting)}; ${next}`;
  if (isPlaceholder(wanted)) return `${where}, which is still to be filled in: ${listed(things)}; ${next}`;
  const near = didYouMean(wanted, [...new Set(things.flatMap(({ id, label }) => [label, id]))]);
  const hint = near.startsWith('Did') ? ` ${near}` : '';
  return `${where}, and no ${name} has that id or label.${hint} There are: ${listed(things)}; ${next}`;
}

function listed(things: readonly NamedThing[]): string {
  const shown = things.slice(0, MOST_CANDIDATES).map(({ id, label, about }) => {
    const words = [JSON.stringify(label), about].filter((word) => word !== '');
    return `${id} (${words.join(', ')})`;
  });
  const more = things.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
