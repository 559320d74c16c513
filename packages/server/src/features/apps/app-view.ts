import {
  type AppManifest,
  appContentType,
  type InstalledApp as InstalledAppView,
  type OfferedApp,
  toIso,
} from '@kith/protocol'
import type { InstalledApp } from './install/installed-app.ts'
import type { AppOffer } from './offers/app-offer.ts'

export function offerView(offer: AppOffer): OfferedApp {
  const { name, publisherTag, version, actionId, fileId, capabilities, tags } = offer
  return {
    ...{ name, publisherTag, version, actionId, fileId, capabilities: [...capabilities] },
    ...said(offer),
    ...(tags.length > 0 && { tags: [...tags] }),
    createdAt: toIso(offer.createdAt),
  }
}

export function installedView({ manifest, ...app }: InstalledApp): InstalledAppView {
  const { name, version, capabilities = [], entry, icon } = manifest
  const { publisherTag, actionId, fileId, autoUpdate } = app
  return {
    ...{ appName: name, name, publisherTag, version, actionId, fileId },
    ...{ status: 'A', capabilities, autoUpdate, entry },
    ...(icon !== undefined && { icon }),
    ...said(manifest),
    fileType: appContentType(manifest),
    ...(app.withdrawnAt !== undefined && { withdrawnAt: toIso(app.withdrawnAt) }),
    installedAt: toIso(app.installedAt),
    updatedAt: toIso(app.updatedAt),
  }
}

type Said = Pick<AppManifest, 'description' | 'titles' | 'descriptions' | 'fileTypes'>

function said({ description, titles, descriptions, fileTypes }: Said | AppOffer) {
  return {
    ...(description !== undefined && { description }),
    ...(titles && { titles }),
    ...(descriptions && { descriptions }),
    ...(fileTypes && { fileTypes }),
  }
}
