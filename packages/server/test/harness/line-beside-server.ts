import { systemClock } from '#lib/clock.ts'
import { CommandLine } from './command-line.ts'
import { TestClock } from './test-clock.ts'
import { TestServer, type TestServerOptions } from './test-server.ts'

/** A server in this process and a command line with its data directory and port. */
export interface LineBesideServer extends AsyncDisposable {
  readonly line: CommandLine
  readonly server: TestServer
}

/** Starts both. The server's clock begins with the machine's, which commands go by, unless another is given. */
export async function openLineBesideServer({
  clock = new TestClock(systemClock.now()),
  baseIdTag = 'home.localhost',
  env = {},
}: Pick<TestServerOptions, 'clock' | 'baseIdTag' | 'env'> = {}): Promise<LineBesideServer> {
  await using opened = new AsyncDisposableStack()
  const place = opened.use(await CommandLine.open({ BASE_ID_TAG: baseIdTag, ...env }))
  const server = await TestServer.start({ dataDir: place.dataDir, clock, baseIdTag, env })
  opened.defer(() => server.stop())
  const line = place.with({ LISTEN: `127.0.0.1:${server.running.port}` })
  const moved = opened.move()
  return { line, server, [Symbol.asyncDispose]: () => moved.disposeAsync() }
}
