import { useQuery } from '@tanstack/preact-query'
import { changeSettings, settingsQuery } from '#features/settings/index.ts'
import { readDevice, removeDevice, writeDevice } from '#platform/device-storage.ts'
import { notify } from '#platform/notices.ts'
import { useExplain } from '#ui/problem.tsx'
import { type Progress, progressSetting, readProgress, writeProgress } from './progress.ts'

const deviceName = 'welcome'

/** How many steps were left when this device last showed them; 0 where the home page need not speak of them. */
export function leftOnDevice(): number {
  const left = readDevice(deviceName)
  return typeof left === 'number' ? left : 0
}

/** Has the home page of this device speak of the steps that are left. */
export function keepLeftOnDevice(left: number): void {
  if (left > 0) writeDevice(deviceName, left)
  else removeDevice(deviceName)
}

/** How far the person came, and the way to change it. */
export function useProgress(isWanted = true) {
  const explain = useExplain()
  const settings = useQuery({ ...settingsQuery, enabled: isWanted })
  const progress = readProgress(settings.data?.[progressSetting])
  const change = (next: Progress) => {
    changeSettings({ [progressSetting]: writeProgress(next) }).catch((error: unknown) =>
      notify(explain(error), { kind: 'failed' }),
    )
  }
  return { progress, change, settings }
}
