import type { DescribedField } from '../port.ts';
import type { Tryton } from './find.ts';
import { trytonFields } from './options.ts';

/** What Tryton's fields_get says of a field. */
interface RawField {
  string: string;
  type: string;
  required?: boolean;
  readonly?: boolean;
  size?: number | null;
  selection?: unknown;
}

/** Fields of the models that an employee is made of; those that no mapping can fill go by Tryton's own names. */
export async function describeFields(tryton: Tryton, signal: AbortSignal): Promise<DescribedField[]> {
  const [party, employee] = await Promise.all([
    readFields(tryton, 'party.party', signal),
    readFields(tryton, 'company.employee', signal),
  ]);
  const models = { party, employee } as const;
  const keys = fieldKeys(tryton);
  const known = trytonFields(tryton.options);
  const ofModels = (['party', 'employee'] as const).flatMap((model) =>
    Object.entries(models[model]).flatMap(([name, raw]) => describeField(raw, `${model}.${name}`, keys)),
  );
  // E-mail, phones and address are records of their own.
  const parts = known
    .filter(({ key }) => !ofModels.some((field) => field.key === key))
    .map(({ key, label, required }) => ({ key, label, isField: true, type: 'text' as const, required }));
  return [...ofModels, ...parts];
}

function readFields({ session }: Tryton, model: string, signal: AbortSignal): Promise<Record<string, RawField>> {
  return session.call({ method: `model.${model}.fields_get`, params: [[]], signal });
}

/** The mapping's name of a field, by its model and name. */
function fieldKeys({ options }: Tryton): Map<string, string> {
  const extra = Object.entries(options.fields).map(([key, { model, name }]) => [`${model}.${name}`, key] as const);
  return new Map([
    ['party.name', 'name'],
    ['employee.start_date', 'startDate'],
    ['employee.end_date', 'endDate'],
    ...extra,
  ]);
}

/** Links to other records are no values, and what is worked out there cannot be written. */
function describeField(raw: RawField, place: string, keys: ReadonlyMap<string, string>): DescribedField[] {
  const type = TYPES[raw.type];
  const key = keys.get(place);
  if (type === undefined || (key === undefined && (raw.readonly === true || HOUSEKEEPING.test(place)))) return [];
  const options = selectionOf(raw.selection);
  return [
    {
      key: key ?? place,
      label: raw.string,
      isField: key !== undefined,
      type,
      // Ticked boxes are required and have a value all the same.
      required: raw.required === true && type !== 'boolean' && place !== 'party.code',
      ...(options === undefined ? {} : { options }),
      ...(typeof raw.size === 'number' ? { maxLength: raw.size } : {}),
    },
  ];
}

const HOUSEKEEPING = /\.(id|create_date|write_date|rec_name|code|.*_readonly)$/;

const TYPES: Readonly<Record<string, DescribedField['type']>> = {
  char: 'text',
  text: 'text',
  selection: 'text',
  date: 'date',
  boolean: 'boolean',
  integer: 'number',
  float: 'number',
  numeric: 'number',
};

/** Pairs of value and label; a method's name where the server works them out. */
function selectionOf(selection: unknown): string[] | undefined {
  if (!Array.isArray(selection)) return undefined;
  const values = (selection as [unknown, unknown][]).flatMap(([value]) =>
    typeof value === 'string' && value !== '' ? value : [],
  );
  return values.length === 0 ? undefined : values;
}
