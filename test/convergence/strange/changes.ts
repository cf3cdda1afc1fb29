import { pick, type Random } from '../../../src/sandbox/random.ts';
import { drawFields, type Field } from './fields.ts';
import type { StrangeWorld } from './world.ts';

/** Whom a company's changes are made to. */
interface Company {
  world: StrangeWorld;
  random: Random;
  /** What it has in mind to exchange. */
  fields: readonly Field[];
}

/** What a company does to its fields, its people and its mapping, between any two steps. */
const CHANGES: Readonly<Record<string, (company: Company) => Promise<void> | void>> = {
  deleted({ world, random }) {
    remove(world, pick(random, world.partner.definitions).id);
  },
  'deleted and created again'({ world, random }) {
    const gone = pick(random, world.partner.definitions);
    remove(world, gone.id);
    world.history.changed(world.partner.define(gone.label, gone.kind, gone.options).id);
  },
  'created again with another type'({ world, random }) {
    const gone = pick(random, world.partner.definitions);
    remove(world, gone.id);
    world.history.changed(world.partner.define(gone.label, gone.kind === 'text' ? 'textarea' : 'text').id);
  },
  renamed({ world, random }) {
    const one = pick(random, world.partner.definitions);
    one.label = one.label.endsWith(' (old)') ? one.label.replace(' (old)', '') : `${one.label} (old)`;
    world.history.changed(one.id);
  },
  'an option removed': (company) => changeOptions(company, (options) => options.slice(1)),
  'an option renamed': (company) => changeOptions(company, ([first, ...others]) => [`${first} 2`, ...others]),
  async 'another mapping'({ world, random, fields }) {
    await world.remap(drawFields(fields, random));
  },
  'an application deleted'({ world, random }) {
    world.partner.deleteApplication(pick(random, world.people).candidateId);
  },
  moved({ world, random }) {
    world.move(pick(random, world.people));
  },
};

export async function changeSomething(company: Company): Promise<void> {
  await CHANGES[pick(company.random, Object.keys(CHANGES))]?.(company);
}

export function remove({ partner, history }: StrangeWorld, id: string): void {
  const at = partner.definitions.findIndex((one) => one.id === id);
  if (at >= 0) partner.definitions.splice(at, 1);
  history.changed(id);
}

function changeOptions({ world, random }: Company, change: (options: string[]) => string[]): void {
  const withOptions = world.partner.definitions.filter(({ options }) => (options?.length ?? 0) > 1);
  if (withOptions.length === 0) return;
  const one = pick(random, withOptions);
  one.options = change(one.options ?? []);
  world.history.changed(one.id);
}
