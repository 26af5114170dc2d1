<?php

declare(strict_types=1);

namespace Askr\Laravel\Queue;

use DateInterval;
use DateTimeInterface;
use Illuminate\Container\Container;
use Illuminate\Contracts\Queue\Job as JobContract;
use Illuminate\Queue\Jobs\Job;
use Illuminate\Queue\ManuallyFailedException;
use Throwable;

/**
 * One claim of a job.
 *
 * Every change is fenced by the claim (`id`, `attempts`): when the reservation lapsed and another worker
 * took the job, nothing that is done here touches it any more.
 *
 * A change that fails leaves the job marked as deleted or released all the same, as with Laravel's own
 * queues: the job stays reserved until the reservation lapses, and then comes back.
 */
final class AskrJob extends Job implements JobContract
{
    private ?Throwable $failure = null;

    public function __construct(
        Container $container,
        string $connectionName,
        string $queue,
        private readonly int $id,
        private readonly int $attempts,
        private readonly string $payload,
        private readonly int $retryAfter,
    ) {
        $this->container = $container;
        $this->connectionName = $connectionName;
        $this->queue = $queue;
    }

    /**
     * Acknowledges the job; or, when it has just failed, moves it to the dead letters in the same step
     * that takes it off the queue.
     */
    public function delete(): void
    {
        parent::delete();

        $failer = $this->failure === null ? null : $this->resolve('queue.failer');

        if ($failer instanceof FailedJobProvider) {
            $failer->move($this, $this->failure);
        } else {
            askr_queue_delete($this->id, $this->attempts);
        }
    }

    /**
     * @param Throwable|null $e
     */
    public function fail($e = null): void
    {
        $this->failure = $e ?? new ManuallyFailedException();

        parent::fail($this->failure);
    }

    /**
     * @param DateTimeInterface|DateInterval|int $delay
     */
    public function release($delay = 0): void
    {
        parent::release($delay);

        askr_queue_release($this->id, max(0, $this->secondsUntil($delay)), $this->attempts);
    }

    public function attempts(): int
    {
        return $this->attempts;
    }

    public function getJobId(): int
    {
        return $this->id;
    }

    public function getRawBody(): string
    {
        return $this->payload;
    }

    /**
     * Starts to extend the reservation in the background, by the connection's `retry_after` each time.
     *
     * @return bool false when the reservation is lost already
     */
    public function startHeartbeat(): bool
    {
        return askr_heartbeat_start($this->id, $this->retryAfter, $this->attempts);
    }

    public function stopHeartbeat(): void
    {
        askr_heartbeat_stop($this->id);
    }

    /**
     * Whether the heartbeat runs and has found the job still reserved for this claim.
     */
    public function heartbeatAlive(): bool
    {
        return askr_heartbeat_alive($this->id);
    }

    /**
     * Marks the job as settled without touching it, for another worker has it: the framework then neither
     * acknowledges, releases nor fails it, and does not go on with its chain or batch.
     */
    public function abandon(): void
    {
        $this->released = true;
        $this->deleted = true;
    }
}
