/** What seeded people and jobs are made of. All of it invented; e-mail addresses are of reserved domains. */

export const FIRST_NAMES = [
  'Amara', 'Beatriz', 'Chidi', 'Daniela', 'Elif', 'Farah', 'Giorgos', 'Hana', 'Ingrid', 'Jamal', 'Katarzyna', 'Liam', 'Mei', 'Noor',
  'Oluwaseun', 'Priya', 'Quentin', 'Rafael', 'Sofía', 'Tomás', 'Uma', 'Valentina', 'Wanjiru', 'Xinyi', 'Yusuf', 'Zoë', 'Aiko', 'Björn',
  'Camille', 'Dmitri', 'Esther', 'Fatima', 'Gustavo', 'Henrik', 'Isabella', 'Joaquín', 'Keiko', 'Lucía', 'Marek', 'Nadia',
] as const;

export const LAST_NAMES = [
  'Okafor', 'Silva', 'Nguyen', 'Kowalska', 'Yılmaz', 'Haddad', 'Papadopoulos', 'Tanaka', 'Lindqvist', 'Brown', "O'Connor", 'Wang', 'Rahman',
  'Adeyemi', 'Sharma', 'Dubois', 'Fernández', 'García López', 'Novák', 'Iyer', 'Rossi', 'Mwangi', 'Li', 'Demir', 'van der Berg', 'Sato',
  'Johansson', 'Moreau', 'Ivanov', 'Mensah', 'Al-Sayed', 'Costa', 'Hansen', 'Santos', 'Reyes', 'Suzuki', 'Müller', 'Nowak', 'Petrova', 'Cruz',
] as const;

export const PLACES = [
  { city: 'Manila', state: 'Metro Manila', country: 'Philippines', dial: '+63917', nationality: 'Filipino' },
  { city: 'Austin', state: 'Texas', country: 'United States', dial: '+15125', nationality: 'American' },
  { city: 'Berlin', state: 'Berlin', country: 'Germany', dial: '+49151', nationality: 'German' },
  { city: 'Singapore', state: '', country: 'Singapore', dial: '+6591', nationality: 'Singaporean' },
  { city: 'São Paulo', state: 'São Paulo', country: 'Brazil', dial: '+55119', nationality: 'Brazilian' },
  { city: 'Kraków', state: 'Małopolskie', country: 'Poland', dial: '+48501', nationality: 'Polish' },
  { city: 'Bengaluru', state: 'Karnataka', country: 'India', dial: '+91988', nationality: 'Indian' },
  { city: 'Nairobi', state: 'Nairobi County', country: 'Kenya', dial: '+25471', nationality: 'Kenyan' },
] as const;

export const COMPANIES = ['Northwind Traders', 'Contoso', 'Acme Foods', 'Globex', 'Initech', 'Umbrella Logistics', 'Stark Bakery', 'Tyrell Textiles'] as const;

export const OCCUPATIONS = [
  { title: 'Backend Engineer', role: 'Engineering', skills: ['TypeScript', 'PostgreSQL', 'Kubernetes', 'Go'], field: 'Computer Science' },
  { title: 'Customer Support Specialist', role: 'Customer Service', skills: ['Zendesk', 'Writing', 'Empathy', 'Spanish'], field: 'Communication' },
  { title: 'Payroll Accountant', role: 'Accounting', skills: ['Excel', 'Payroll', 'SAP', 'Auditing'], field: 'Accounting' },
  { title: 'Registered Nurse', role: 'Healthcare', skills: ['Triage', 'Patient care', 'EHR'], field: 'Nursing' },
  { title: 'Warehouse Supervisor', role: 'Supply Chain & Logistics', skills: ['Inventory', 'Forklift', 'Lean'], field: 'Logistics' },
  { title: 'Product Designer', role: 'Design', skills: ['Figma', 'Research', 'Prototyping'], field: 'Design' },
  { title: 'HR Business Partner', role: 'Human Resources (HR)', skills: ['Labour law', 'Coaching', 'Recruiting'], field: 'Psychology' },
  { title: 'Account Executive', role: 'Sales', skills: ['Negotiation', 'CRM', 'Presentation'], field: 'Business' },
] as const;

export const INSTITUTIONS = ['Lakeside University', 'Polytechnic of the North', 'Harbour College', 'Institute of Applied Science', 'City University'] as const;
export const DEGREES = ["Bachelor's", "Master's", 'High School', 'Ph.D.'] as const;
export const LANGUAGES = ['English', 'Spanish', 'Tagalog', 'German', 'Portuguese', 'Polish', 'Hindi', 'Swahili'] as const;
export const MAIL_DOMAINS = ['example.com', 'example.org', 'example.net', 'mail.example'] as const;
