import type { IdTag } from '@kith/protocol'
import type { EmailLinks } from '#features/accounts/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { RawRoute, RawVisit, WholeAnswer } from '#infra/http/index.ts'
import { Failure } from '#lib/failure.ts'
import { hasCurrent } from '#lib/preconditions.ts'
import { etagOf } from './etag.ts'
import { findPublicPage, findPublicPost, type PublicContent } from './find-public.ts'
import { followAddress, parseVisitor, renderFollow, type Visitor } from './follow-elsewhere.ts'
import { findAsset } from './page-assets.ts'
import { type PageName, placesOf } from './page-contents.ts'
import { type PageLanguage, pageLanguage } from './page-language.ts'
import { type EmailLinkOutcome, emailLinkStatus, renderEmailLink } from './render-email-link.ts'
import { renderJoin } from './render-join.ts'
import { renderAbsent, renderPage } from './render-page.ts'
import { renderPublicPage, renderPublicPost } from './render-public.ts'

interface HostTenant extends Tenant {
  /** Unix seconds: since then it shows nothing of its own. */
  readonly suspendedAt?: number
}

interface PagesDeps {
  /** The tenant on whose host a visit arrives. */
  findTenant(host: string): Promise<HostTenant | undefined>
  /** Who may register on the host of a tenant; undefined where registration is closed. */
  findRegistration(tenant: Tenant): Promise<'open' | 'invite' | undefined>
  /** Do mails stay on this server, because it has no mail server? */
  areMailsKept(): Promise<boolean>
  /** Where everybody may register on this server. */
  findOpenRegistration(): Promise<string | undefined>
  /** Who may make communities here. */
  findCommunityCreation(): Promise<'open' | 'invite'>
  /** Does the tenant give names to others? */
  isProvider(tenant: Tenant): Promise<boolean>
  /** The origin of a tenant. */
  serverUrlOf(tenant: Tenant): string
  /** The origin of an identity's server, where it is known without asking: of one that lives here, or that the operator lists. */
  findServer(idTag: IdTag): Promise<string | undefined>
  readonly content: PublicContent
  /** The links that confirm an e-mail address. */
  readonly emailLinks: EmailLinks
  /** The web app, where it is built. */
  readonly webApp?:
    | {
        /** Its document, for browsers that stay signed in; undefined for all others. */
        answerReturning(visit: RawVisit, tenant: HostTenant): WholeAnswer | undefined
        /** The paths to which a person may come back after signing in, as the router writes them. */
        readonly paths: readonly string[]
      }
    | undefined
}

/** The public pages of tenants and their posts; the pages on which a person registers, signs in, sets a password, manages
 * sessions and passkeys, signs other devices in, uses apps and founds a community; the one that shows what a link shares; and
 * on identity providers the one on which a name is activated. */
export function pageRoutes(deps: PagesDeps): RawRoute[] {
  const page = (path: string, name: PageName): RawRoute => ({
    method: 'GET',
    path,
    handle: (visit) => answerPage(deps, name, visit),
  })
  return [
    { method: 'GET', path: '/', isCounted: true, handle: (visit) => answerPublicPage(deps, visit) },
    {
      method: 'GET',
      path: '/posts/{actionId}',
      isCounted: true,
      handle: (visit) => answerPublicPost(deps, visit),
    },
    { method: 'GET', path: '/follow', isCounted: true, handle: (visit) => answerFollow(deps, visit) },
    { method: 'GET', path: '/join', isCounted: true, handle: (visit) => answerJoin(deps, visit) },
    page('/account', 'account'),
    page('/approve', 'approve'),
    page('/login', 'login'),
    page('/set-password', 'set-password'),
    page('/register', 'register'),
    ...(['GET', 'POST'] as const).map((method) => ({
      method,
      path: '/confirm-email',
      isCounted: true as const,
      handle: (visit: RawVisit) => answerEmailLink(deps, method === 'GET' ? 'look' : 'confirm', visit),
    })),
    page('/activate', 'activate'),
    page('/communities/new', 'found-community'),
    page('/shared', 'shared'),
    page('/apps', 'apps'),
    page('/apps/{publisher}/{name}', 'app'),
    { method: 'GET', path: '/assets/{asset}', handle: answerAsset },
    { method: 'GET', path: '/assets/app/{folder}/{asset}', handle: answerHostAsset },
  ]
}

/** The one page of all addresses that have none. */
export function absentPage({ request }: Pick<RawVisit, 'request'>): WholeAnswer {
  const language = pageLanguage(request.headers['accept-language'])
  return pageAnswer(404, renderAbsent(language), language)
}

async function answerPage(deps: PagesDeps, name: PageName, visit: RawVisit): Promise<WholeAnswer> {
  const { request, peer } = visit
  const language = pageLanguage(request.headers['accept-language'])
  const tenant = peer.host === undefined ? undefined : await deps.findTenant(peer.host)
  const registration = tenant && (await deps.findRegistration(tenant))
  if (!tenant || !(await hasPage(deps, { tenant, name, registration }))) return absentPage(visit)
  const areMailsKept = name === 'register' && (await deps.areMailsKept())
  const creation = name === 'found-community' ? await deps.findCommunityCreation() : undefined
  const owner = {
    ...{ idTag: tenant.idTag, areMailsKept, registration, creation },
    appPaths: deps.webApp?.paths,
  }
  const html = renderPage(name, owner, language)
  const answer = pageAnswer(200, html, language, policyFor(name))
  return orUnchanged(request, answer)
}

async function hasPage(
  deps: PagesDeps,
  { tenant, name, registration }: { tenant: Tenant; name: PageName; registration: string | undefined },
): Promise<boolean> {
  if (name === 'activate') return await deps.isProvider(tenant)
  // A community has no password and no sessions of its own: its members come with their own identities.
  if (tenant.type === 'community') return name === 'shared'
  return name !== 'register' || registration !== undefined
}

async function answerPublicPage(deps: PagesDeps, visit: RawVisit): Promise<WholeAnswer> {
  const tenant = await findShownTenant(deps, visit)
  const ofApp = tenant && deps.webApp?.answerReturning(visit, tenant)
  if (ofApp) return ofApp
  const cursor = queryOf(visit).get('before') ?? undefined
  const page = tenant && (await orUnknown(findPublicPage(deps.content, tenant, cursor)))
  if (!page) return absentPage(visit)
  return answerPublic(deps, visit, (language) =>
    renderPublicPage(page, { language, url: deps.serverUrlOf(tenant), isNewest: cursor === undefined }),
  )
}

async function answerPublicPost(deps: PagesDeps, visit: RawVisit): Promise<WholeAnswer> {
  const tenant = await findShownTenant(deps, visit)
  const ofApp = tenant && deps.webApp?.answerReturning(visit, tenant)
  if (ofApp) return ofApp
  const found = tenant && (await findPublicPost(deps.content, tenant, String(visit.params.actionId)))
  if (!found) return absentPage(visit)
  return answerPublic(deps, visit, (language) =>
    renderPublicPost(found, { language, url: deps.serverUrlOf(tenant) }),
  )
}

/** Shows a visitor the way to the app of their own server: by one more click, so that no link of others leads through here.
 * Where a request comes from tells nothing: what others write is shown on this origin as well. */
async function answerFollow(deps: PagesDeps, visit: RawVisit): Promise<WholeAnswer> {
  const tenant = await findShownTenant(deps, visit)
  if (!tenant) return absentPage(visit)
  const visitor = await visitorOf(deps, visit, tenant)
  const language = pageLanguage(visit.request.headers['accept-language'])
  const html = renderFollow(tenant, visitor, language)
  return leavingAnswer(visitor, html, language)
}

/** The page of a link into a community. Whoever made it is unknown here: the code stands behind `#`. */
async function answerJoin(deps: PagesDeps, visit: RawVisit): Promise<WholeAnswer> {
  const tenant = await findShownTenant(deps, visit)
  if (tenant?.type !== 'community') return absentPage(visit)
  const { name } = await deps.content.findOwner(tenant)
  const visitor = await visitorOf(deps, visit, tenant)
  const registerUrl = await deps.findOpenRegistration()
  const language = pageLanguage(visit.request.headers['accept-language'])
  const community = { idTag: tenant.idTag, name }
  const html = renderJoin({ community, visitor, isHere: visitor.isHere, registerUrl }, language)
  return leavingAnswer(visitor, html, language)
}

/** Whom the form names, and where their app shows the tenant. */
async function visitorOf(
  deps: Pick<PagesDeps, 'findServer' | 'findTenant'>,
  visit: RawVisit,
  tenant: Tenant,
): Promise<Visitor & { readonly isHere: boolean }> {
  const typed = (queryOf(visit).get('visitor') ?? '').slice(0, longestVisitor)
  const named = parseVisitor(typed)
  if (!named) return { typed, address: undefined, isHere: false }
  const server = (await deps.findServer(named)) ?? `https://${named}`
  const isHere = (await deps.findTenant(named))?.idTag === named
  return { typed, address: followAddress(server, tenant), isHere }
}

function leavingAnswer({ typed, address }: Visitor, html: string, language: PageLanguage): WholeAnswer {
  const status = address === undefined && typed !== '' ? 400 : 200
  const { headers, ...answer } = pageAnswer(status, html, language)
  return { ...answer, headers: { ...headers, ...leaving } }
}

const longestVisitor = 300
const leaving = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }

/** A suspended tenant shows what a host shows that is nobody's. */
async function findShownTenant(deps: PagesDeps, { peer }: RawVisit): Promise<Tenant | undefined> {
  const tenant = peer.host === undefined ? undefined : await deps.findTenant(peer.host)
  return tenant?.suspendedAt === undefined ? tenant : undefined
}

/** What names nothing is answered like what does not exist. */
async function orUnknown<Found>(finding: Promise<Found>): Promise<Found | undefined> {
  try {
    return await finding
  } catch (error) {
    if (error instanceof Failure && error.code === 'E-VALIDATION') return undefined
    throw error
  }
}

function answerPublic(
  { webApp }: PagesDeps,
  { request }: RawVisit,
  render: (language: PageLanguage) => string,
): WholeAnswer {
  const language = pageLanguage(request.headers['accept-language'])
  const { headers, ...answer } = pageAnswer(200, render(language), language)
  // The same address is the app's in browsers that stay signed in.
  const varying = webApp ? { ...headers, vary: 'Accept-Language, Cookie' } : headers
  return orUnchanged(request, { ...answer, ...(varying ? { headers: varying } : {}) })
}

function queryOf({ request: { url = '' } }: Pick<RawVisit, 'request'>): URLSearchParams {
  return new URLSearchParams(url.split('?')[1])
}

// Only the button confirms: programs that look at the links in mails follow them as well.
async function answerEmailLink(
  deps: PagesDeps,
  wish: 'look' | 'confirm',
  visit: RawVisit,
): Promise<WholeAnswer> {
  const { request, peer } = visit
  const tenant = await findShownTenant(deps, visit)
  if (!tenant) return absentPage(visit)
  const language = pageLanguage(request.headers['accept-language'])
  const token = queryOf(visit).get('token') ?? ''
  const outcome = await followEmailLink(deps.emailLinks, wish, { tenant, token, ip: peer.ip })
  const { security: onward } = placesOf(deps.webApp !== undefined)
  const html = renderEmailLink(outcome, { idTag: tenant.idTag, token, onward }, language)
  const { headers, ...answer } = pageAnswer(emailLinkStatus[outcome.kind], html, language)
  return { ...answer, headers: { ...headers, 'cache-control': 'no-store' } }
}

async function followEmailLink(
  links: EmailLinks,
  wish: 'look' | 'confirm',
  request: Parameters<EmailLinks['look']>[0],
): Promise<EmailLinkOutcome> {
  try {
    return wish === 'look' ? await links.look(request) : { kind: 'done', ...(await links.confirm(request)) }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    if (error.code === 'E-RATELIMIT') return { kind: 'tooMany' }
    // Used a second time, it may have done its work already.
    if (wish === 'confirm' && (error.code === 'E-GONE' || error.code === 'E-NOTFOUND'))
      return await followEmailLink(links, 'look', request)
    throw error
  }
}

function answerAsset(visit: RawVisit): Promise<WholeAnswer> {
  return answerFile(visit, String(visit.params.asset))
}

function answerHostAsset(visit: RawVisit): Promise<WholeAnswer> {
  const { folder, asset } = visit.params
  return answerFile(visit, `app/${folder}/${asset}`)
}

async function answerFile({ request }: RawVisit, name: string): Promise<WholeAnswer> {
  const answer = await findAsset(name)
  return answer ? orUnchanged(request, answer) : { status: 404, headers: { 'cache-control': 'no-store' } }
}

function orUnchanged(request: RawVisit['request'], answer: WholeAnswer): WholeAnswer {
  const { headers = {} } = answer
  const { etag } = headers
  return etag !== undefined && hasCurrent(request.headers, { etag }) ? { status: 304, headers } : answer
}

// Nothing inline runs, and nothing is loaded from or sent to another origin.
const directives: Readonly<Record<string, string>> = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'connect-src': "'self'",
  'img-src': "'self' data:",
  'form-action': "'self'",
  'base-uri': "'none'",
  'frame-ancestors': "'none'",
}
const contentSecurityPolicy = policyOf(directives)

function policyFor(name: PageName): string {
  // The frame shows apps of this origin alone.
  if (name === 'app') return policyOf({ ...directives, 'frame-src': "'self'" })
  // Films and sounds that a link shares.
  return name === 'shared' ? policyOf({ ...directives, 'media-src': "'self'" }) : contentSecurityPolicy
}

function policyOf(named: Readonly<Record<string, string>>): string {
  return Object.entries(named)
    .map(([name, value]) => `${name} ${value}`)
    .join('; ')
}

function pageAnswer(
  status: number,
  html: string,
  language: PageLanguage,
  policy = contentSecurityPolicy,
): WholeAnswer {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-language': language,
    'content-security-policy': policy,
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-cache',
    vary: 'Accept-Language',
    ...(status === 200 ? { etag: etagOf(html) } : {}),
  }
  return { status, headers, body: html }
}
