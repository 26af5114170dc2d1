<?php

declare(strict_types=1);

namespace Askr\Laravel\Queue;

use Illuminate\Queue\Jobs\InspectedJob;
use Illuminate\Support\Collection;
use UnitEnum;

/**
 * What monitors ask a queue. A job whose reservation lapsed is pending: a worker can take it.
 */
trait InspectsJobs
{
    /**
     * All jobs of the queue, in whatever state.
     *
     * @param UnitEnum|string|null $queue
     */
    public function size($queue = null): int
    {
        return $this->stats($queue)['total'];
    }

    /**
     * @param UnitEnum|string|null $queue
     */
    public function pendingSize($queue = null): int
    {
        return $this->stats($queue)['pending'];
    }

    /**
     * @param UnitEnum|string|null $queue
     */
    public function delayedSize($queue = null): int
    {
        return $this->stats($queue)['delayed'];
    }

    /**
     * @param UnitEnum|string|null $queue
     */
    public function reservedSize($queue = null): int
    {
        return $this->stats($queue)['reserved'];
    }

    /**
     * @param UnitEnum|string|null $queue
     * @return int|null a Unix time in seconds
     */
    public function creationTimeOfOldestPendingJob($queue = null): ?int
    {
        $milliseconds = $this->stats($queue)['oldest_pending_created_ms'];

        return $milliseconds === null ? null : intdiv($milliseconds, 1000);
    }

    public function totalSize(): int
    {
        return $this->sum('total');
    }

    public function totalPendingSize(): int
    {
        return $this->sum('pending');
    }

    public function totalDelayedSize(): int
    {
        return $this->sum('delayed');
    }

    public function totalReservedSize(): int
    {
        return $this->sum('reserved');
    }

    /**
     * @param UnitEnum|string|null $queue
     * @return Collection<int, InspectedJob>
     */
    public function pendingJobs($queue = null): Collection
    {
        return $this->jobs('pending', [$this->getQueue($queue)]);
    }

    /**
     * @param UnitEnum|string|null $queue
     * @return Collection<int, InspectedJob>
     */
    public function delayedJobs($queue = null): Collection
    {
        return $this->jobs('delayed', [$this->getQueue($queue)]);
    }

    /**
     * @param UnitEnum|string|null $queue
     * @return Collection<int, InspectedJob>
     */
    public function reservedJobs($queue = null): Collection
    {
        return $this->jobs('reserved', [$this->getQueue($queue)]);
    }

    /**
     * @return Collection<int, InspectedJob>
     */
    public function allPendingJobs(): Collection
    {
        return $this->jobs('pending', askr_queue_names());
    }

    /**
     * @return Collection<int, InspectedJob>
     */
    public function allDelayedJobs(): Collection
    {
        return $this->jobs('delayed', askr_queue_names());
    }

    /**
     * @return Collection<int, InspectedJob>
     */
    public function allReservedJobs(): Collection
    {
        return $this->jobs('reserved', askr_queue_names());
    }

    /**
     * @param UnitEnum|string|null $queue
     * @return array<string, int|null> the figures of one moment
     */
    private function stats($queue): array
    {
        return askr_queue_stats($this->getQueue($queue));
    }

    private function sum(string $figure): int
    {
        return array_sum(array_map(
            static fn (string $queue): int => askr_queue_stats($queue)[$figure],
            askr_queue_names(),
        ));
    }

    /**
     * @param list<string> $queues
     * @return Collection<int, InspectedJob>
     */
    private function jobs(string $state, array $queues): Collection
    {
        return (new Collection($queues))
            ->flatMap(static fn (string $queue): array => askr_queue_list($queue, $state, PHP_INT_MAX))
            ->map(static fn (array $job): InspectedJob => self::inspected($job));
    }

    /**
     * Jobs that other programs put into the queue need not be JSON, and show up all the same.
     *
     * @param array{queue: string, payload: string, attempts: int} $job
     */
    private static function inspected(array $job): InspectedJob
    {
        return is_array(json_decode($job['payload'], true))
            ? InspectedJob::fromPayload($job['payload'], $job['attempts'], $job['queue'])
            : new InspectedJob(null, $job['queue'], null, $job['attempts']);
    }
}
