import { pick, type Random } from '../random.ts';
import {
  COMPANIES,
  DEGREES,
  FIRST_NAMES,
  INSTITUTIONS,
  LANGUAGES,
  LAST_NAMES,
  MAIL_DOMAINS,
  OCCUPATIONS,
  PLACES,
} from './words.ts';

/** No two of the first 65,000 share a name: namesakes are asked about, and a hire would wait for that by chance. */
function nameOf(n: number): { firstName: string; lastName: string } {
  const at = (words: readonly string[], index: number): string => words[index % words.length] ?? '';
  const round = Math.floor(n / FIRST_NAMES.length);
  const family = at(LAST_NAMES, n * 7 + round);
  const second = Math.floor(round / LAST_NAMES.length);
  return {
    firstName: at(FIRST_NAMES, n * 17),
    lastName: second === 0 ? family : `${family} ${at(LAST_NAMES, second - 1)}`,
  };
}

/** The nth invented person of a seed: varied, plausible, with an address that reaches nobody. */
export function person(random: Random, n: number): Record<string, unknown> & { email: string } {
  const { firstName, lastName } = nameOf(n);
  // Names were drawn once: without these two draws every seed would be another world.
  random();
  random();
  const place = pick(random, PLACES);
  const occupation = pick(random, OCCUPATIONS);
  const years = 1 + Math.floor(random() * 18);
  const employer = pick(random, COMPANIES);
  return {
    firstName,
    lastName,
    email: `${ascii(firstName)}.${ascii(lastName)}.${String(n)}@${pick(random, MAIL_DOMAINS)}`,
    phone: place.dial + String(1_000_000 + Math.floor(random() * 8_999_999)),
    currentJobTitle: occupation.title,
    currentCompany: employer,
    city: place.city,
    country: place.country,
    nationality: place.nationality,
    skills: occupation.skills.filter(() => random() < 0.7),
    majors: [occupation.field],
    languages: [...new Set(['English', pick(random, LANGUAGES)])],
    summary: `${occupation.title} with ${String(years)} years of experience.`,
    educations: [{ degree: pick(random, DEGREES), field: occupation.field, institution: pick(random, INSTITUTIONS) }],
    workExperiences: experiences(random, occupation.title, employer, years),
    linkedin: random() < 0.6 ? `https://linkedin.example/in/${ascii(firstName)}-${ascii(lastName)}-${String(n)}` : null,
    dateOfBirth: birthday(random),
    gender: random() < 0.8 ? pick(random, ['female', 'male', 'non-binary']) : null,
    industry: occupation.role,
  };
}

/** The nth invented job. */
export function job(random: Random, n: number): Record<string, unknown> & { title: string } {
  const occupation = OCCUPATIONS[n % OCCUPATIONS.length] ?? OCCUPATIONS[0];
  const { city, state, country } = pick(random, PLACES);
  const from = 20_000 + Math.floor(random() * 40) * 1000;
  return {
    title:
      n < OCCUPATIONS.length
        ? occupation.title
        : `${occupation.title} ${String(Math.floor(n / OCCUPATIONS.length) + 1)}`,
    city,
    state,
    country,
    status: 'ACTIVE',
    workMode: pick(random, ['ONSITE', 'REMOTE', 'HYBRID']),
    jobRole: occupation.role,
    contractType: 'Permanent',
    salaryRangeFrom: from,
    salaryRangeTo: from + 15_000,
    salaryCurrency: country === 'Philippines' ? 'PHP' : 'USD',
  };
}

function experiences(random: Random, title: string, employer: string, years: number): Record<string, string>[] {
  const recent = { title, company: employer, duration: `${String(Math.ceil(years / 2))} years` };
  return years < 4
    ? [recent]
    : [
        recent,
        {
          title: `Junior ${title}`,
          company: pick(random, COMPANIES),
          duration: `${String(Math.floor(years / 2))} years`,
        },
      ];
}

function birthday(random: Random): string {
  return new Date(Date.UTC(1962 + Math.floor(random() * 42), Math.floor(random() * 12), 1 + Math.floor(random() * 28)))
    .toISOString()
    .slice(0, 10);
}

function ascii(name: string): string {
  return name
    .replaceAll('ł', 'l')
    .replaceAll('ı', 'i')
    .normalize('NFD')
    .replace(/[^A-Za-z]/g, '')
    .toLowerCase();
}
