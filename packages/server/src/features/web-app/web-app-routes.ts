import type { Tenant } from '#infra/caller/index.ts'
import { hasBrowserCookie, type RawRoute, type RawVisit, type WholeAnswer } from '#infra/http/index.ts'
import { colorsOf } from './app-colors.ts'
import { appPaths } from './app-paths.ts'
import { appHeaders } from './app-policy.ts'
import { type AppLanguage, type AppOwner, manifestOf } from './manifest.ts'
import type { WebApp } from './web-app.ts'

interface HostTenant extends Tenant {
  /** Unix seconds: since then it shows nothing of its own. */
  readonly suspendedAt?: number
}

interface WebAppDeps {
  readonly app: WebApp
  /** The tenant on whose host a visit arrives. */
  findTenant(host: string): Promise<HostTenant | undefined>
  findOwner(tenant: Tenant): Promise<AppOwner>
  /** Of a picture, once it was read. */
  findThumbhash(tenant: Tenant, fileId: string): Promise<string | undefined>
  /** By `Accept-Language`. */
  languageOf(wishes: string | undefined): AppLanguage
  /** The origin of a tenant. */
  serverUrlOf(tenant: Tenant): string
  /** The page of what does not exist. */
  absentPage(visit: RawVisit): WholeAnswer
}

/** The app on the hosts of persons, its files on every host, and its description for browsers that install it. */
export function webAppRoutes(deps: WebAppDeps): RawRoute[] {
  const get = (path: string, handle: RawRoute['handle']) => ({ method: 'GET', path, handle }) as const
  const onHostOfApp = (answer: (visit: RawVisit, tenant: Tenant) => WholeAnswer | Promise<WholeAnswer>) => {
    return async (visit: RawVisit) => {
      const tenant = visit.peer.host === undefined ? undefined : await deps.findTenant(visit.peer.host)
      return tenant && hasApp(tenant) ? await answer(visit, tenant) : deps.absentPage(visit)
    }
  }
  return [
    ...appPaths.map((path) =>
      get(
        path,
        onHostOfApp(({ request }, tenant) => documentOf(deps, request, tenant)),
      ),
    ),
    // What other programs share is taken by the worker in the browser: where there is none, the composer is empty.
    {
      method: 'POST',
      path: '/new/shared',
      handle: onHostOfApp(() => ({ status: 303, headers: { location: '/new?shared=unread' } })),
    },
    get('/assets/web/{asset}', async ({ request, params }) => {
      const found = await deps.app.findAsset(request, String(params.asset))
      return found ?? { status: 404, headers: { 'cache-control': 'no-store' } }
    }),
    get(
      '/service-worker.js',
      onHostOfApp((visit) => deps.app.answerServiceWorker(visit.request) ?? deps.absentPage(visit)),
    ),
    {
      ...get(
        '/manifest.webmanifest',
        onHostOfApp(async ({ request }, tenant) => {
          const language = deps.languageOf(request.headers['accept-language'])
          const owner = await deps.findOwner(tenant)
          const { pictureId } = owner
          const thumbhash = pictureId === undefined ? undefined : await deps.findThumbhash(tenant, pictureId)
          return answerManifest({ owner, thumbhash, language })
        }),
      ),
      isCounted: true,
    },
  ]
}

/** The app in the place of a public page, for browsers that stay signed in; undefined for all others. */
export function appForReturning(
  deps: Pick<WebAppDeps, 'app' | 'serverUrlOf'>,
  visit: RawVisit,
  tenant: HostTenant,
): WholeAnswer | undefined {
  if (!hasApp(tenant) || !hasBrowserCookie(visit)) return undefined
  return documentOf(deps, visit.request, tenant, 'Accept-Encoding, Cookie')
}

/** At a community nobody signs in: its members come with their own identities. */
function hasApp({ type, suspendedAt }: HostTenant): boolean {
  return type !== 'community' && suspendedAt === undefined
}

function documentOf(
  { app, serverUrlOf }: Pick<WebAppDeps, 'app' | 'serverUrlOf'>,
  request: RawVisit['request'],
  tenant: Tenant,
  vary = 'Accept-Encoding',
): WholeAnswer {
  return app.answerDocument(request, { ...appHeaders(serverUrlOf(tenant)), vary })
}

interface ManifestInput {
  readonly owner: AppOwner
  readonly thumbhash: string | undefined
  readonly language: AppLanguage
}

function answerManifest({ owner, thumbhash, language }: ManifestInput): WholeAnswer {
  const headers = {
    'content-type': 'application/manifest+json; charset=utf-8',
    'cache-control': 'no-cache',
    vary: 'Accept-Language',
    'content-security-policy': "default-src 'none'",
  }
  return { status: 200, headers, body: manifestOf(owner, language, colorsOf(thumbhash)) }
}
