"""Random requests to every service: each is answered, none with an internal error, and the node goes on."""

import random

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from request_inputs import random_message

import raisim_ros.srv as srv
from raisim_ros.msg import ResultCode
from raisim_ros.srv import ListObjects

SEED = 19
ROUNDS = 12  # requests to each service


def test_every_service_answers_random_requests(start_node, probe, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some requests save worlds under relative names
    start_node(paused=True)
    probe.call(ListObjects, "list_objects")
    services = {
        name.rpartition("/")[2]: kinds[0].rpartition("/")[2]
        for name, kinds in probe.node.get_service_names_and_types()
        if kinds[0].startswith("raisim_ros/srv/")
    }
    assert len(services) > 25
    rng = random.Random(SEED)
    faults = []
    for number in range(ROUNDS):
        for name, kind in sorted(services.items()):
            service = getattr(srv, kind)
            request = random_message(service.Request, rng, sane=0.3 + 0.05 * number)
            fields = {field: getattr(request, field) for field in request.get_fields_and_field_types()}
            answer = probe.call(service, name, **fields)
            if getattr(answer, "result", ResultCode.OK) == ResultCode.INTERNAL_ERROR:
                faults.append(f"{name}: {answer.message} for {request}"[:500])
    assert faults == []
    assert probe.call(ListObjects, "list_objects").result == ResultCode.OK
