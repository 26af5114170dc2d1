<?php

declare(strict_types=1);

namespace App\Jobs;

use Askr\Laravel\Queue\KeepsReservation;

/**
 * Runs longer than its reservation.
 */
final class LongProbe extends Probe
{
    /**
     * @return list<object>
     */
    public function middleware(): array
    {
        return [new KeepsReservation()];
    }
}
