"""Routes of the pages of single records (stores/views/record_details.py) and of what is noted on them (stores/views/noting.py)."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from stores.views import further_details, noting, record_details

urlpatterns: list[URLPattern | URLResolver] = [
    path("decisions/<int:pk>/", record_details.decision_detail, name="decision_detail"),
    path("problems/<int:pk>/", record_details.problem_detail, name="problem_detail"),
    path("decisions/<int:pk>/note/", noting.note_decision, name="note_decision"),
    path("decisions/<int:pk>/successor/", noting.decision_successor, name="decision_successor"),
    path("problems/<int:pk>/note/", noting.note_problem, name="note_problem"),
    path("queue/<int:pk>/", record_details.queue_detail, name="queue_detail"),
    path("flows/<int:pk>/", further_details.flow_detail, name="flow_detail"),
    path("sessions/events/<int:pk>/", further_details.event_detail, name="event_detail"),
    path("solutions/<int:pk>/", further_details.solution_detail, name="solution_detail"),
    path("mem0/<int:pk>/", further_details.mem0_detail, name="mem0_detail"),
    path("preferences/<int:pk>/", further_details.preference_detail, name="preference_detail"),
    path("memory-files/<int:pk>/", further_details.memory_file_detail, name="memory_file_detail"),
    path("graph/<int:pk>/", further_details.graph_item_detail, name="graph_item_detail"),
    path("other/<int:pk>/", further_details.other_detail, name="other_detail"),
    path("records/<slug:record_type>/<int:pk>/unmask/", record_details.record_unmask, name="record_unmask"),
]
