<?php

declare(strict_types=1);

namespace Askr\Laravel\Queue;

use Closure;
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Contracts\Queue\Job;

/**
 * Job middleware for a job that may run longer than its connection's `retry_after`.
 *
 *     public function middleware(): array
 *     {
 *         return [new KeepsReservation()];
 *     }
 *
 * The reservation is extended by a thread of the extension, so also while the handler computes or waits
 * without ever yielding. When it is lost nevertheless (the machine slept, the queue was cleared), another
 * worker may run the job already: a handler that works in steps asks `KeepsReservation::lost($this->job)`
 * between them and returns. The loss is reported, and the job's chain and batch are left to the other
 * worker.
 *
 * On connections with another driver the middleware does nothing.
 */
final class KeepsReservation
{
    /**
     * Whether the job's reservation was lost while this middleware kept it.
     */
    public static function lost(?Job $job): bool
    {
        return $job instanceof AskrJob && ! $job->isDeletedOrReleased() && ! $job->heartbeatAlive();
    }

    public function handle(object $command, Closure $next): mixed
    {
        $job = $command->job ?? null;

        if (! $job instanceof AskrJob) {
            return $next($command);
        }

        if (! $job->startHeartbeat()) {
            $this->abandon($job);

            return null;
        }

        try {
            return $next($command);
        } finally {
            if (self::lost($job)) {
                $this->abandon($job);
            }

            $job->stopHeartbeat();
        }
    }

    private function abandon(AskrJob $job): void
    {
        $job->abandon();
        $job->getContainer()->make(ExceptionHandler::class)->report(new ReservationLost($job));
    }
}
