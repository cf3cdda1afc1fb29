const COMPANY = 'sandbox-company';

/** Which company is looked at; every read and every act is about it. */
export const company = {
  get id() {
    return Number(sessionStorage.getItem(COMPANY) ?? 0);
  },
  set id(id) {
    sessionStorage.setItem(COMPANY, String(id));
  },
};

/** What the sandbox refused, in its own words. */
export class Refused extends Error {}

async function asked(path, init) {
  const response = await fetch(path, init);
  const answer = await response.json();
  if (response.ok) return answer;
  const { message = `${path} answered ${response.status}`, details = {} } = answer.error ?? {};
  const fields = Object.entries(details).map(([field, why]) => `${field} ${why}`);
  throw new Refused(fields.length === 0 ? message : `${message} (${fields.join('; ')})`);
}

export function read(path, query = {}) {
  const used = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(used.map(([key, value]) => [key, String(value)]));
  return asked(used.length === 0 ? path : `${path}?${search}`);
}

/** A list, a record, or what else the page reads of the company. */
export function browse(path, query = {}) {
  return read(`/browse/${path}`, { companyId: company.id, ...query });
}

export function act(name, input) {
  return asked(`/actions/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ companyId: company.id, ...input }),
  });
}

let listed;

/** Every action by name, as the control plane describes it. */
export async function actions() {
  listed ??= read('/actions').then((answer) => new Map(answer.actions.map((one) => [one.name, one])));
  return listed;
}
