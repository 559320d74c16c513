import {
  type ActionPorts,
  type AppPackages,
  type Attachments,
  actionEndpoints,
  type FileShares,
  handleActionJobs,
} from '#features/actions/index.ts'
import { askIdentity, type Identities, openDelivery } from '#features/federation/index.ts'
import { findKnownType } from '#features/profiles/index.ts'
import type { Endpoint } from '#infra/http/index.ts'
import type { JobQueue } from '#infra/jobs/index.ts'
import type { IdentityFeatures } from './identity-features.ts'
import type { Services } from './services.ts'

/** What actions ask of files. */
export interface ActionFiles {
  readonly fileShares: FileShares
  readonly attachments: Attachments
  readonly appPackages: AppPackages
}

/** What actions ask of those who are named in them. */
export interface ActionIdentities extends Pick<ActionPorts, 'emit' | 'settings'> {
  readonly tenants: IdentityFeatures['tenants']
  readonly identities: Pick<Identities, 'resolve'>
}

/** What the actions need of everything else. */
export function actionPorts(
  { db, clock, jobs, signingKeys }: Pick<Services, 'db' | 'clock' | 'jobs' | 'signingKeys'>,
  { tenants, identities, settings, emit }: ActionIdentities,
  files: ActionFiles,
): ActionPorts {
  return {
    ...files,
    db,
    clock,
    jobs,
    keys: signingKeys,
    tenants,
    settings,
    emit,
    findKnownType,
    deliver: openDelivery({ jobs, clock }),
    askIdentity: (idTag, asker) => askIdentity(identities, idTag, asker),
  }
}

/** Actions, at once and later. */
export function wireActions(
  { jobs }: { readonly jobs: JobQueue },
  { tenants }: Pick<ActionIdentities, 'tenants'>,
  ports: ActionPorts,
): Endpoint[] {
  handleActionJobs({ ...ports, jobs, findTenantById: (tenantId) => tenants.findById(tenantId) })
  return actionEndpoints(ports)
}
