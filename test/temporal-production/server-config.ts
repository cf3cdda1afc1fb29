/** One Postgres server, as the schema tool and the server's configuration name it. */
export interface Databases {
  host: string;
  port: string;
  user: string;
  /** Of persistence and of visibility. */
  names: { persistence: string; visibility: string };
}

/** Ports on 127.0.0.1. */
export interface ServerPorts {
  frontend: number;
  history: number;
  matching: number;
  worker: number;
  /** Of the ring in which each service finds the others. */
  membership: Record<'frontend' | 'history' | 'matching' | 'worker', number>;
}

/** The server's configuration file. JSON is YAML, and this one needs no quoting rules. */
export function serverConfig(databases: Databases, ports: ServerPorts, dynamicConfigFile: string): string {
  const service = (name: keyof ServerPorts['membership']) => ({
    rpc: { grpcPort: ports[name], membershipPort: ports.membership[name], bindOnLocalHost: true },
  });
  return JSON.stringify({
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'persistence',
      visibilityStore: 'visibility',
      // Cannot be changed once a cluster has begun; enough for this one.
      numHistoryShards: 4,
      datastores: {
        persistence: { sql: datastore(databases, databases.names.persistence) },
        visibility: { sql: datastore(databases, databases.names.visibility) },
      },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: {
      frontend: service('frontend'),
      history: service('history'),
      matching: service('matching'),
      worker: service('worker'),
    },
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `127.0.0.1:${ports.frontend}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: dynamicConfigFile, pollInterval: '10s' },
  });
}

function datastore({ host, port, user }: Databases, databaseName: string): object {
  return {
    pluginName: 'postgres12',
    databaseName,
    connectAddr: `${host}:${port}`,
    connectProtocol: 'tcp',
    user,
    password: '',
    maxConns: 20,
    maxIdleConns: 20,
    maxConnLifetime: '1h',
  };
}

/** What a fleet's server is told beyond its defaults: tenants share the task queues fairly. */
export const dynamicConfig = JSON.stringify({
  'matching.useNewMatcher': [{ value: true }],
  'matching.enableFairness': [{ value: true }],
});
