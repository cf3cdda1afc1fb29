import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

interface Definition {
  'x-kubernetes-group-version-kind'?: { group: string; kind: string; version: string }[];
  properties?: object;
}

/** Two whose form in a file is wider than the document says. */
const WIDER: Readonly<Record<string, object>> = {
  Quantity: { type: ['string', 'number'] },
  IntOrString: { type: ['string', 'integer'] },
};

/**
 * Writes a schema for each kind of a Kubernetes' OpenAPI document (`api/openapi-spec/swagger.json` of the Go module
 * k8s.io/kubernetes) into a folder; a property that the document does not know is refused. Gives the place as
 * kubeconform takes it.
 */
export async function writeKubeSchemas(swagger: string, folder: string): Promise<string> {
  const text = await readFile(swagger, 'utf8');
  const { definitions } = JSON.parse(text, (_key, value: Definition | null) =>
    typeof value?.properties === 'object' && !('additionalProperties' in value)
      ? { ...value, additionalProperties: false }
      : value,
  ) as { definitions: Record<string, Definition> };
  for (const name of Object.keys(definitions)) {
    const wider = WIDER[name.split('.').at(-1) ?? ''];
    if (wider !== undefined) definitions[name] = wider;
  }
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'all.json'), JSON.stringify({ definitions }));
  const kinds = Object.entries(definitions).flatMap(([name, one]) =>
    (one['x-kubernetes-group-version-kind'] ?? []).map(({ group, kind, version }) => {
      const suffix = [group.split('.')[0], version].filter((part) => part !== '').join('-');
      return { file: `${kind.toLowerCase()}-${suffix}.json`, $ref: `all.json#/definitions/${name}` };
    }),
  );
  await Promise.all(kinds.map(({ file, $ref }) => writeFile(join(folder, file), JSON.stringify({ $ref }))));
  return join(folder, '{{.ResourceKind}}{{.KindSuffix}}.json');
}
