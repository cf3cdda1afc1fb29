import type { EmployeeFields } from '../../../src/hire/hire.ts';
import { pick, type Random } from '../../../src/sandbox/random.ts';

/** A human as a profile shows them; `id` is who they truly are. */
export interface Human {
  id: number;
  fields: Profile;
}

export interface Profile extends EmployeeFields {
  givenName: string;
  familyName: string;
  email: string;
  birthDate: string;
}

/** Who is hired, and what makes it hard to say who that is. */
export interface Story {
  name: string;
  /** Employed before the first hire, and not by it. */
  before?: { human: Human; former: boolean };
  /** Hired first, by an application of their own. */
  first?: Human;
  /** Whose identity is in question. */
  hired: Human;
  /** What `hired` is to `first`: an application of the same candidate, or another candidate, at once or later. */
  as?: 'same candidate' | 'at once' | 'later';
  /** The HR system ends the employment of `first` before `hired` is hired. */
  ends?: boolean;
}

type Draw = (people: People) => Omit<Story, 'name'>;

/** Humans of one run, each new one somebody else. */
interface People {
  random: Random;
  next: () => Human;
}

const GIVEN = [
  'Ana',
  'Zoë',
  'Łukasz',
  'María José',
  'Nguyễn',
  "D'Arcy",
  'Li',
  'Ømer',
  'Siobhán',
  'Jean-Luc',
  'Ali',
  'Иван',
];
const FAMILY = [
  'Reyes',
  "O'Neill",
  'Müller-Lüdenscheidt',
  'Nuñez',
  'van der Berg',
  'İnce',
  'Sørensen',
  'Smith',
  '李',
  'Null',
];

const SITUATIONS: Readonly<Record<string, Draw>> = {
  'another person': ({ next }) => ({ before: employed(next()), hired: next() }),
  'another person of the same name': (people) => besideSomebody(people, ['givenName', 'familyName']),
  'another person of the same name and birth date': (people) =>
    besideSomebody(people, ['givenName', 'familyName', 'birthDate']),
  'another person born on the same day': (people) => besideSomebody(people, ['birthDate']),
  'another person at the same e-mail': (people) => besideSomebody(people, ['email']),
  'another person of the family at the same e-mail': (people) => besideSomebody(people, ['email', 'familyName']),
  'the same person': (people) => again(people, ({ human }) => human),
  'the same person in other letters': (people) => again(people, otherLetters),
  'a changed name': (people) => again(people, married),
  'a new e-mail': (people) => again(people, moved),
  'a former worker': (people) => again(people, ({ human }) => human, true),
  'a former worker with a changed name': (people) => again(people, married, true),
  'a former worker with a new e-mail': (people) => again(people, moved, true),
  'a rehire': ({ next }) => rehired(next()),
  'a second job': ({ next }) => ({ ...rehired(next()), ends: false }),
  'two candidates, one human': (people) => twoCandidates(people, 'later'),
  'two candidates, one human, at once': (people) => twoCandidates(people, 'at once'),
};

/** So many stories, every situation as often as any other. */
export function drawStories(random: Random, count: number, birthDates: boolean): Story[] {
  let humans = 0;
  const taken = new Set<string>();
  const people: People = { random, next: () => human(random, { id: (humans += 1), taken, birthDates }) };
  const situations = Object.entries(SITUATIONS);
  return Array.from({ length: count }, (_, at) => {
    const [name, draw] = situations[at % situations.length] as (typeof situations)[number];
    return { name, ...draw(people) };
  });
}

/**
 * Nobody shares a birth date, or a name where there are none, unless a situation says so: otherwise chance would make a
 * conflict that no story has.
 */
function human(
  random: Random,
  { id, taken, birthDates }: { id: number; taken: Set<string>; birthDates: boolean },
): Human {
  let birthDate = drawDay(random);
  while (taken.has(birthDate)) birthDate = drawDay(random);
  taken.add(birthDate);
  const [givenName, family] = [pick(random, GIVEN), pick(random, FAMILY)];
  const familyName = birthDates ? family : `${family} ${id}`;
  return { id, fields: { givenName, familyName, email: `h${id}@example.org`, birthDate } };
}

function drawDay(random: Random): string {
  const [month, day] = [1 + Math.floor(random() * 12), 1 + Math.floor(random() * 28)].map((part) =>
    String(part).padStart(2, '0'),
  );
  return `${1950 + Math.floor(random() * 50)}-${month}-${day}`;
}

function employed(human: Human, former = false): NonNullable<Story['before']> {
  return { human, former };
}

/** Somebody else, who shares these with an employee. */
function besideSomebody({ random, next }: People, names: readonly (keyof Profile)[]): Omit<Story, 'name'> {
  const [one, other] = [next(), next()];
  const shared = Object.fromEntries(names.map((name) => [name, one.fields[name] ?? null]));
  return { before: employed(one, random() < 0.3), hired: changed(other, shared) };
}

type Change = (given: { human: Human; random: Random }) => Human;

/** An employee, who applies as themselves. */
function again({ random, next }: People, change: Change, former = false): Omit<Story, 'name'> {
  const human = next();
  return { before: employed(human, former), hired: change({ human, random }) };
}

function rehired(human: Human): Omit<Story, 'name'> {
  return { first: human, hired: human, as: 'same candidate', ends: true };
}

/** The partner keeps one candidate for an e-mail, so that the second one has another. */
function twoCandidates({ random, next }: People, as: 'at once' | 'later'): Omit<Story, 'name'> {
  const first = next();
  return { first, hired: moved({ human: first, random }), as, ends: as === 'later' && random() < 0.3 };
}

const married: Change = ({ human, random }) =>
  changed(human, { familyName: `${pick(random, FAMILY)}-${human.fields.familyName}` });

const moved: Change = ({ human }) => changed(human, { email: `moved-${human.id}@example.org` });

const otherLetters: Change = ({ human, random }) =>
  random() < 0.5
    ? changed(human, { email: human.fields.email.toUpperCase(), familyName: human.fields.familyName.toUpperCase() })
    : changed(human, { email: `moved-${human.id}@example.org`, givenName: human.fields.givenName.normalize('NFD') });

function changed({ id, fields }: Human, changes: EmployeeFields): Human {
  return { id, fields: { ...fields, ...changes } };
}
