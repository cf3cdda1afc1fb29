export interface BambooCompany {
  employees: Map<string, Record<string, string>>;
  changed: Map<string, { action: 'Inserted' | 'Updated' | 'Deleted'; lastChanged: string }>;
  /** Rows in the table of employment statuses, by employee. */
  statuses: Map<string, Record<string, string>[]>;
  /** Rows in the table of jobs, by employee. */
  jobs: Map<string, Record<string, string>[]>;
  files: Map<string, { id: number; name: string; bytes: Buffer }[]>;
}

export interface Asked {
  method: string;
  path: string;
  query: URLSearchParams;
  /** The JSON body; empty if it is not JSON. */
  body: Record<string, unknown>;
  raw: Buffer;
  type: string;
}

export interface BambooAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** The section for employees' files. */
export const FILE_CATEGORY = 16;

/** With a precision of seconds, as in the vendor's examples. */
export function markChanged({ changed }: BambooCompany, id: string, action: 'Inserted' | 'Updated' | 'Deleted'): void {
  changed.set(id, { action, lastChanged: `${new Date().toISOString().slice(0, 19)}+00:00` });
}

/** Adds people as an import would. */
export function addPeople(company: BambooCompany, count: number): string[] {
  const ids = Array.from({ length: count }, () => {
    const size = company.employees.size;
    const id = String(40_500 + size);
    const fields = { firstName: 'Ana', lastName: `Imported ${id}`, employeeNumber: String(1_000 + size) };
    company.employees.set(id, { employeeId: id, status: 'Active', ...fields });
    return id;
  });
  touchPeople(company, ids);
  return ids;
}

/** Edits all within one second, as an import would. */
export function touchPeople(company: BambooCompany, ids: readonly string[]): void {
  const lastChanged = `${new Date().toISOString().slice(0, 19)}+00:00`;
  for (const id of ids) company.changed.set(id, { action: 'Updated', lastChanged });
}

/** A row is valid from its date on. */
export function statusAnswer(
  company: BambooCompany,
  { id, rest }: { id: string; rest: string },
  { method, body }: Asked,
): BambooAnswer {
  const rows = company.statuses.get(id) ?? [];
  if (method === 'GET') return { status: 200, body: rows };
  writeRow(company.statuses, { id, rowId: rest.split('/')[2] }, body);
  const today = new Date().toISOString().slice(0, 10);
  const current = (company.statuses.get(id) ?? [])
    .filter((one) => (one['date'] ?? '') <= today)
    .toSorted(byDate)
    .at(-1);
  const status = current?.['employmentStatus'] === 'Terminated' ? 'Inactive' : 'Active';
  Object.assign(company.employees.get(id) ?? {}, { status });
  markChanged(company, id, 'Updated');
  return { status: 200 };
}

/** Replaces the named row, or adds a new one. */
function writeRow(
  table: Map<string, Record<string, string>[]>,
  { id, rowId }: { id: string; rowId: string | undefined },
  body: Record<string, unknown>,
): void {
  const sent = Object.fromEntries(Object.entries(body).map(([name, value]) => [name, String(value)]));
  const rows = table.get(id) ?? [];
  const row = rows.find((one) => one['id'] === rowId);
  if (row !== undefined) Object.assign(row, sent);
  else table.set(id, [...rows, { id: String(rows.length + 1), employeeId: id, ...sent }]);
}

const JOB_FIELDS = ['jobTitle', 'department', 'location', 'division', 'reportsTo'];

/** Job fields written with the employee go to the row that is valid, or to a new one on the day of hire. */
export function noteJob(company: BambooCompany, id: string, body: Record<string, unknown>): void {
  const fields = Object.entries(body).filter(([name]) => JOB_FIELDS.includes(name));
  if (fields.length === 0) return;
  const values = Object.fromEntries(fields.map(([name, value]) => [name, String(value)]));
  const rows = company.jobs.get(id) ?? [];
  const latest = rows.toSorted(byDate).at(-1);
  const date = company.employees.get(id)?.['hireDate'] ?? '0000-00-00';
  if (latest === undefined) company.jobs.set(id, [{ id: '1', employeeId: id, date, ...values }]);
  else Object.assign(latest, values);
}

/** A new row holds only what was sent; the employee shows the latest row, even before its day. */
export function jobAnswer(
  company: BambooCompany,
  { id, rest }: { id: string; rest: string },
  { method, body }: Asked,
): BambooAnswer {
  const rows = company.jobs.get(id) ?? [];
  if (method === 'GET') return { status: 200, body: rows };
  writeRow(company.jobs, { id, rowId: rest.split('/')[2] }, body);
  const shown = company.jobs.get(id)?.toSorted(byDate).at(-1);
  const values = JOB_FIELDS.map((name) => [name, shown?.[name] ?? '']);
  Object.assign(company.employees.get(id) ?? {}, Object.fromEntries(values));
  markChanged(company, id, 'Updated');
  return { status: 200 };
}

function byDate(one: Record<string, string>, other: Record<string, string>): number {
  return (one['date'] ?? '').localeCompare(other['date'] ?? '');
}

export async function fileAnswer(
  company: BambooCompany,
  { id, rest }: { id: string; rest: string },
  { method, raw, type }: Asked,
): Promise<BambooAnswer> {
  const files = company.files.get(id) ?? [];
  if (rest === 'files' && method === 'POST') return upload(company, id, await readForm(raw, type));
  if (rest === 'files/view') return { status: 200, body: viewOf(id, files) };
  const found = files.find((file) => rest === `files/${file.id}`);
  if (found === undefined) return { status: 404 };
  return { status: 200, headers: { 'content-type': 'application/octet-stream' }, body: found.bytes };
}

function readForm(raw: Buffer, type: string): Promise<FormData> {
  return new Response(new Uint8Array(raw), { headers: { 'content-type': type } }).formData();
}

async function upload(company: BambooCompany, id: string, form: FormData): Promise<BambooAnswer> {
  const [file, name] = [form.get('file'), form.get('fileName')];
  if (!(file instanceof Blob) || typeof name !== 'string' || Number(form.get('category')) !== FILE_CATEGORY)
    return { status: 404 };
  const all = [...company.files.values()].flat();
  const stored = { id: all.length + 1, name, bytes: Buffer.from(await file.bytes()) };
  company.files.set(id, [...(company.files.get(id) ?? []), stored]);
  const location = `https://acme.bamboohr.com/api/v1/employees/${id}/files/${stored.id}`;
  return { status: 201, headers: { Location: location } };
}

function viewOf(id: string, files: readonly { id: number; name: string; bytes: Buffer }[]) {
  const listed = files.map(({ id: file, name, bytes }) => ({
    id: file,
    name,
    originalFileName: name,
    size: bytes.length,
  }));
  const category = { id: FILE_CATEGORY, name: 'Application', canUploadFiles: 'yes', files: listed };
  return { employee: { id: Number(id) }, categories: [category] };
}
