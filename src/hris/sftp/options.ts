import { z } from 'zod';
import { duration } from '../duration.ts';
import type { FieldDef } from '../port.ts';

const columnName = z.string().regex(/^[A-Za-z_]\w*$/, 'expected the name of a column');
const folder = z.string().regex(/^[^\0]*[^\0/]$/, 'expected a folder on the server, without a slash at its end');
const fingerprint = z
  .string()
  .regex(/^SHA256:[A-Za-z0-9+/]{43}$/, 'expected a fingerprint as ssh-keygen -lf prints it: SHA256:...');

const field = z.strictObject({
  column: columnName,
  label: z.string().optional(),
  type: z.enum(['text', 'number', 'date', 'boolean', 'list']).default('text'),
  required: z.boolean().default(false),
});

/** Columns of a file of new hires as we would write it; a tenant names its own with `fields`. */
const DEFAULT_FIELDS: Record<string, z.input<typeof field>> = {
  givenName: { column: 'given_name', label: 'Given name', required: true },
  familyName: { column: 'family_name', label: 'Family name', required: true },
  email: { column: 'email', label: 'Personal e-mail', required: true },
  phone: { column: 'phone', label: 'Phone' },
  title: { column: 'title', label: 'Job title' },
  department: { column: 'department', label: 'Department' },
  location: { column: 'location', label: 'Location' },
  city: { column: 'city', label: 'City' },
  country: { column: 'country', label: 'Country' },
  startDate: { column: 'start_date', label: 'Start date', type: 'date', required: true },
  birthDate: { column: 'birth_date', label: 'Birth date', type: 'date' },
};

/** What stands beside `kind: sftp` and `connection` in a tenant file. */
export const sftpOptions = z
  .strictObject({
    host: z.string().min(1),
    port: z.int().min(1).max(65_535).default(22),
    user: z.string().min(1),
    /** Key of the server, by its fingerprint; several while it is being replaced. */
    hostKey: z.union([fingerprint, z.array(fingerprint).min(1)]),
    /** References to them in the tenant file. */
    privateKey: z.string().min(1),
    passphrase: z.string().min(1).optional(),
    folders: z
      .strictObject({
        /** We write requests here, and the customer's job takes them. */
        requests: folder.default('requests'),
        /** Empty notes of what was sent, which nobody but us touches. */
        sent: folder.default('sent'),
        results: folder.default('results'),
        rosters: folder.default('rosters'),
      })
      .prefault({}),
    delimiter: z.enum([',', ';']).default(','),
    /** The customer's OpenPGP public key, armoured: `file:customer.asc`. Requests are encrypted to it. */
    encryptTo: z.string().min(1).optional(),
    /** Our OpenPGP private key, armoured, for results and rosters that are encrypted. */
    decryptWith: z.string().min(1).optional(),
    decryptPassphrase: z.string().min(1).optional(),
    idColumn: columnName.default('employee_id'),
    numberColumn: columnName.default('employee_number'),
    referenceColumn: columnName.default('reference'),
    /** An older roster is not believed, and hires wait for the next one. */
    rosterMaxAge: duration.default(3 * 86_400_000),
    /** How often it is asked what became of a hire. */
    checkEvery: duration.default(15 * 60_000),
    fields: z.record(z.string(), field).default({}),
    allowPrivateAddress: z.boolean('expected true or false').default(false),
  })
  .transform(({ hostKey, fields, ...options }) => ({
    ...options,
    hostKeys: [hostKey].flat(),
    fields: { ...z.record(z.string(), field).parse(DEFAULT_FIELDS), ...fields },
  }));

export type SftpField = z.output<typeof field>;
export type SftpOptions = z.output<typeof sftpOptions>;

/** What the mapping of an employee may write. */
export function sftpFields({ fields }: SftpOptions): FieldDef[] {
  return Object.entries(fields).map(([key, { label, type, required }]) => ({
    key,
    label: label ?? key,
    type,
    required,
    writable: true,
  }));
}
