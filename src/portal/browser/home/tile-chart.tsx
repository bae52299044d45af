import { lazy, Suspense } from 'react';
import type { ChartCanvasProps } from '../charts/chart-canvas';

const LazyChart = lazy(async () => ({ default: (await import('../charts/chart-canvas')).ChartCanvas }));

const CHART_HEIGHT = 200;

/** A chart within a tile. It has the same height while it is loaded, so that the layout does not shift. */
export function TileChart(props: Omit<ChartCanvasProps, 'height'>) {
  return (
    <Suspense fallback={<div style={{ height: CHART_HEIGHT }} />}>
      <LazyChart {...props} height={CHART_HEIGHT} />
    </Suspense>
  );
}
