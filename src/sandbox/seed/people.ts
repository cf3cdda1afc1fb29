import { pick, type Random } from '../random.ts';

/** Material for seeded people and jobs. All of it is invented; e-mail addresses use reserved domains. */

export const FIRST_NAMES = [
  'Amara',
  'Beatriz',
  'Chidi',
  'Daniela',
  'Elif',
  'Farah',
  'Giorgos',
  'Hana',
  'Ingrid',
  'Jamal',
  'Katarzyna',
  'Liam',
  'Mei',
  'Noor',
  'Oluwaseun',
  'Priya',
  'Quentin',
  'Rafael',
  'Sofía',
  'Tomás',
  'Uma',
  'Valentina',
  'Wanjiru',
  'Xinyi',
  'Yusuf',
  'Zoë',
  'Aiko',
  'Björn',
  'Camille',
  'Dmitri',
  'Esther',
  'Fatima',
  'Gustavo',
  'Henrik',
  'Isabella',
  'Joaquín',
  'Keiko',
  'Lucía',
  'Marek',
  'Nadia',
] as const;

export const LAST_NAMES = [
  'Okafor',
  'Silva',
  'Nguyen',
  'Kowalska',
  'Yılmaz',
  'Haddad',
  'Papadopoulos',
  'Tanaka',
  'Lindqvist',
  'Brown',
  "O'Connor",
  'Wang',
  'Rahman',
  'Adeyemi',
  'Sharma',
  'Dubois',
  'Fernández',
  'García López',
  'Novák',
  'Iyer',
  'Rossi',
  'Mwangi',
  'Li',
  'Demir',
  'van der Berg',
  'Sato',
  'Johansson',
  'Moreau',
  'Ivanov',
  'Mensah',
  'Al-Sayed',
  'Costa',
  'Hansen',
  'Santos',
  'Reyes',
  'Suzuki',
  'Müller',
  'Nowak',
  'Petrova',
  'Cruz',
] as const;

const PLACES = [
  { city: 'Manila', state: 'Metro Manila', country: 'Philippines', dial: '+63917', nationality: 'Filipino' },
  { city: 'Austin', state: 'Texas', country: 'United States', dial: '+15125', nationality: 'American' },
  { city: 'Berlin', state: 'Berlin', country: 'Germany', dial: '+49151', nationality: 'German' },
  { city: 'Singapore', state: '', country: 'Singapore', dial: '+6591', nationality: 'Singaporean' },
  { city: 'São Paulo', state: 'São Paulo', country: 'Brazil', dial: '+55119', nationality: 'Brazilian' },
  { city: 'Kraków', state: 'Małopolskie', country: 'Poland', dial: '+48501', nationality: 'Polish' },
  { city: 'Bengaluru', state: 'Karnataka', country: 'India', dial: '+91988', nationality: 'Indian' },
  { city: 'Nairobi', state: 'Nairobi County', country: 'Kenya', dial: '+25471', nationality: 'Kenyan' },
] as const;

const COMPANIES = [
  'Northwind Traders',
  'Contoso',
  'Acme Foods',
  'Globex',
  'Initech',
  'Umbrella Logistics',
  'Stark Bakery',
  'Tyrell Textiles',
] as const;

export const OCCUPATIONS = [
  {
    title: 'Backend Engineer',
    role: 'Engineering',
    skills: ['TypeScript', 'PostgreSQL', 'Kubernetes', 'Go'],
    field: 'Computer Science',
  },
  {
    title: 'Customer Support Specialist',
    role: 'Customer Service',
    skills: ['Zendesk', 'Writing', 'Empathy', 'Spanish'],
    field: 'Communication',
  },
  {
    title: 'Payroll Accountant',
    role: 'Accounting',
    skills: ['Excel', 'Payroll', 'SAP', 'Auditing'],
    field: 'Accounting',
  },
  { title: 'Registered Nurse', role: 'Healthcare', skills: ['Triage', 'Patient care', 'EHR'], field: 'Nursing' },
  {
    title: 'Warehouse Supervisor',
    role: 'Supply Chain & Logistics',
    skills: ['Inventory', 'Forklift', 'Lean'],
    field: 'Logistics',
  },
  { title: 'Product Designer', role: 'Design', skills: ['Figma', 'Research', 'Prototyping'], field: 'Design' },
  {
    title: 'HR Business Partner',
    role: 'Human Resources (HR)',
    skills: ['Labour law', 'Coaching', 'Recruiting'],
    field: 'Psychology',
  },
  { title: 'Account Executive', role: 'Sales', skills: ['Negotiation', 'CRM', 'Presentation'], field: 'Business' },
] as const;

const INSTITUTIONS = [
  'Lakeside University',
  'Polytechnic of the North',
  'Harbour College',
  'Institute of Applied Science',
  'City University',
] as const;
const DEGREES = ["Bachelor's", "Master's", 'High School', 'Ph.D.'] as const;
const LANGUAGES = ['English', 'Spanish', 'Tagalog', 'German', 'Portuguese', 'Polish', 'Hindi', 'Swahili'] as const;
const MAIL_DOMAINS = ['example.com', 'example.org', 'example.net', 'mail.example'] as const;

/** No two of the first 65,000 share a name: a person is asked about namesakes, and a hire would wait by chance. */
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
  // Names were once drawn here: without these two draws every seed would give another world.
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
