import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { duration, employeeUrl } from '../option-types.ts';
import type { FieldDef } from '../port.ts';

const attribute = z.string().regex(/^[A-Za-z][A-Za-z0-9-]*$/, 'expected the name of an attribute');
const dn = z.string().regex(/^[A-Za-z][A-Za-z0-9-]*=[^=]/, 'expected a distinguished name, such as ou=people,dc=acme');

const field = z.strictObject({
  attribute,
  label: z.string().optional(),
  type: z.enum(['text', 'number', 'date', 'boolean', 'list']).default('text'),
  required: z.boolean().default(false),
});

/** Attributes of inetOrgPerson (RFC 2798, RFC 4519); a tenant adds others, or places these elsewhere, with `fields`. */
const FIELDS: Readonly<Record<string, z.input<typeof field>>> = {
  givenName: { attribute: 'givenName', label: 'Given name' },
  familyName: { attribute: 'sn', label: 'Family name', required: true },
  name: { attribute: 'cn', label: 'Full name', required: true },
  email: { attribute: 'mail', label: 'E-mail' },
  phone: { attribute: 'mobile', label: 'Mobile phone' },
  title: { attribute: 'title', label: 'Job title' },
  department: { attribute: 'ou', label: 'Department' },
  street: { attribute: 'street', label: 'Street' },
  postalCode: { attribute: 'postalCode', label: 'Postal code' },
  city: { attribute: 'l', label: 'City' },
};

/** The options beside `kind: ldap` and `connection` in a tenant file. */
export const ldapOptions = z
  .strictObject({
    url: z.url({ protocol: /^ldaps?$/, error: 'expected the address of the server, ldaps://...' }),
    /** Begins TLS on the port of ldap:// before anything is sent. */
    startTls: z.boolean('expected true or false').default(false),
    bindDn: dn,
    /** A reference in the tenant file. */
    password: z.string().min(1),
    /** Everybody is searched below it, leavers too. */
    base: dn,
    /** New entries are made here; `base` by default. */
    createIn: dn.optional(),
    objectClasses: z.array(attribute).min(1).default(['top', 'person', 'organizationalPerson', 'inetOrgPerson']),
    /** The class by which people are told from other entries. */
    personClass: attribute.default('inetOrgPerson'),
    /** Names a new entry, with our reference as its value. */
    rdnAttribute: attribute.default('uid'),
    referenceAttribute: attribute.default('employeeType'),
    numberAttribute: attribute.default('employeeNumber'),
    /** What marks somebody who left: a value of an attribute, or a place. */
    leaver: z
      .union([
        z.strictObject({ attribute, value: z.string().min(1), active: z.string().min(1).optional() }),
        z.strictObject({ moveTo: dn }),
      ])
      .optional(),
    readLag: duration.default(0),
    /** The address of an employee's page: https://hr.example/people/{id}. */
    employeeUrl: employeeUrl.optional(),
    fields: z.record(z.string(), field).default({}),
    allowPrivateAddress: z.boolean('expected true or false').default(false),
  })
  .superRefine(({ url, startTls, base, createIn, leaver, fields, ...own }, context) => {
    const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    const isSecure = url.startsWith('ldaps:');
    if (isSecure && startTls) refuse(['startTls'], 'expected false, because ldaps:// is TLS from the beginning');
    if (!isSecure && !startTls && !isThisMachine(url))
      refuse(['url'], 'expected ldaps://, or startTls: true: the password and personal data would be unencrypted');
    if (createIn !== undefined && !isBelow(createIn, base)) refuse(['createIn'], 'expected a place below base');
    if (leaver !== undefined && 'moveTo' in leaver && !isBelow(leaver.moveTo, base))
      refuse(['leaver', 'moveTo'], 'expected a place below base: whoever is not found there would be created again');
    if (leaver !== undefined && 'moveTo' in leaver && isBelow(createIn ?? base, leaver.moveTo))
      refuse(['leaver', 'moveTo'], 'expected a place that is not above createIn: everybody would pass for a leaver');
    const ours = [own.rdnAttribute, own.referenceAttribute].map((name) => name.toLowerCase());
    if (leaver !== undefined && 'attribute' in leaver && ours.includes(leaver.attribute.toLowerCase()))
      refuse(['leaver', 'attribute'], 'expected another attribute: the mark would replace our reference');
    const taken = Object.values({ ...FIELDS, ...fields }).map((one) => one.attribute.toLowerCase());
    for (const name of ['rdnAttribute', 'referenceAttribute'] as const)
      if (taken.includes(own[name].toLowerCase())) refuse([name], 'expected an attribute that no field has');
  })
  .transform(({ createIn, fields, ...options }) => ({
    ...options,
    createIn: createIn ?? options.base,
    columns: { ...z.record(z.string(), field).parse(FIELDS), ...fields },
  }));

export type LdapOptions = z.output<typeof ldapOptions>;

/** Loopback. Names are not resolved: they may lead elsewhere a moment later. */
function isThisMachine(url: string): boolean {
  const host = new URL(url).hostname.replaceAll(/^\[|\]$/g, '');
  if (isIP(host) === 0) return host.toLowerCase() === 'localhost';
  return ipaddr.process(host).range() === 'loopback';
}

/** Whether a distinguished name is a place, or is below it. */
export function isBelow(name: string, place: string): boolean {
  const plain = (text: string) => `,${text.toLowerCase().replaceAll(/\s*([,=+])\s*/g, '$1')}`;
  return plain(name).endsWith(plain(place));
}

/** The fields that an employee mapping may write. */
export function ldapFields({ columns }: LdapOptions): FieldDef[] {
  return Object.entries(columns).map(([key, { attribute: place, label = key, type, required }]) => ({
    key,
    place,
    label,
    type,
    required,
    writable: true,
    ...(type === 'text' && { isLookedUp: true as const }),
  }));
}
